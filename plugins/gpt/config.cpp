#include "plugins/gpt/config.h"

#include <cmath>

#include "plugins/gpt/refuse.h"

namespace slipway::gpt {
namespace {

using transformer::Activation;
using transformer::NormKind;
using transformer::RopeConfig;
using transformer::TransformerConfig;

int64_t default_ffn(int64_t hidden, bool gated) {
  if (!gated) return 4 * hidden;
  const int64_t ffn = static_cast<int64_t>(static_cast<double>(4 * hidden) * 2 / 3 / 64) * 64;
  refuse_if(ffn == 0, slw::cat("the default ffn_hidden_size, int(8 x hidden_size / 3 / 64) x 64, is 0 for hidden_size ",
                               hidden, ": set ffn_hidden_size, for example to ", 4 * hidden));
  return ffn;
}

void read_shape(const slw::Config& o, TransformerConfig& c) {
  c.num_layers = o.integer("num_layers");
  c.hidden = o.integer("hidden_size");
  c.heads = o.integer("num_attention_heads");
  c.query_groups = o.optional_integer("num_query_groups").value_or(c.heads);
  refuse_indivisible("num_attention_heads", c.heads, "num_query_groups", c.query_groups);
  const auto kv_channels = o.optional_integer("kv_channels");
  if (!kv_channels) refuse_indivisible("hidden_size", c.hidden, "num_attention_heads", c.heads);
  c.head_dim = kv_channels.value_or(c.hidden / c.heads);
  c.gated = o.boolean("gated_linear_unit");
  const auto ffn = o.optional_integer("ffn_hidden_size");
  c.ffn = ffn ? *ffn : default_ffn(c.hidden, c.gated);
}

Activation read_activation(const slw::Config& o, const TransformerConfig& c) {
  const std::string name = o.string("activation_func");
  if (o.boolean("bias_activation_fusion")) {
    refuse_if(
        name != "gelu" && !(name == "silu" && c.gated),
        slw::cat("bias_activation_fusion works with activation_func gelu, or silu with gated_linear_unit; "
                 "activation_func is ",
                 name, ", gated_linear_unit ", c.gated ? "true" : "false", ": set bias_activation_fusion to false"));
    refuse_if(name == "gelu" && !c.gated && !c.linear_bias,
              "bias_activation_fusion with gelu and without gated_linear_unit needs add_bias_linear: set "
              "bias_activation_fusion to false or add_bias_linear to true");
    if (name == "gelu") return Activation::kGeluTanh;
  }
  if (name == "gelu") return Activation::kGelu;
  if (name == "silu") return Activation::kSilu;
  if (name == "relu") return Activation::kRelu;
  if (name == "squared_relu") return Activation::kSquaredRelu;
  return Activation::kQuickGelu;
}

RopeConfig read_rope(const slw::Config& o, const TransformerConfig& c) {
  RopeConfig rope;
  const double percent = o.number("rotary_percent");
  rope.dim = static_cast<int64_t>(static_cast<double>(c.head_dim) * percent);
  refuse_if(rope.dim < 2 || rope.dim % 2 != 0,
            slw::cat("the rotated part of a head, int(", c.head_dim, " channels x rotary_percent ", text_of(percent),
                     ") = ", rope.dim, ", has to be even and at least 2: ", nearest_percent(c.head_dim, rope.dim)));
  rope.base = o.number("rotary_base");
  rope.interleaved = o.boolean("rotary_interleaved");
  rope.interpolation_factor = o.optional_number("seq_len_interpolation_factor");
  refuse_if(
      rope.interpolation_factor && *rope.interpolation_factor <= 0,
      slw::cat("seq_len_interpolation_factor ", text_of(rope.interpolation_factor.value_or(0)), " is not above 0"));
  if (o.boolean("rope_scaling")) rope.scaling_factor = o.number("rope_scaling_factor");
  refuse_unused(o, "rope_scaling_factor", 8.0, o.boolean("rope_scaling"), "rope_scaling is false");
  return rope;
}

void refuse_rope_options(const slw::Config& o, const std::string& type) {
  const std::string reason = slw::cat("position_embedding_type is ", type, ", not rope");
  refuse_unused(o, "rotary_base", 10000, false, reason);
  refuse_unused(o, "rotary_percent", 1.0, false, reason);
  refuse_unused(o, "rotary_interleaved", false, false, reason);
  refuse_unused(o, "seq_len_interpolation_factor", nullptr, false, reason);
  refuse_unused(o, "rope_scaling", false, false, reason);
  refuse_unused(o, "rope_scaling_factor", 8.0, false, reason);
}

void read_positions(const slw::Config& o, const slw_run_info& run, GptConfig& c) {
  const std::string type = o.string("position_embedding_type");
  c.has_learned_positions = type == "learned_absolute";
  const int64_t rows = o.integer("max_position_embeddings");
  c.max_positions = rows == 0 ? run.seq_length : rows;
  refuse_if(c.has_learned_positions && c.max_positions < run.seq_length,
            slw::cat("seq_length ", run.seq_length, " needs at least as many max_position_embeddings; there are ",
                     c.max_positions));
  if (type == "rope") {
    c.layers.rope = read_rope(o, c.layers);
  } else {
    refuse_rope_options(o, type);
  }
}

std::optional<int64_t> read_window(const slw::Config& o) {
  const nlohmann::json& window = o.json("window_size");
  if (window.is_null()) return std::nullopt;
  const bool is_pair = window.is_array() && window.size() == 2 && window[0].is_number_integer() &&
                       window[1].is_number_integer() && window[0] >= 0 && window[1] == 0;
  refuse_if(!is_pair, slw::cat("window_size ", window.dump(),
                               " is not [w, 0] with w >= 0 or null: attention is causal, "
                               "so nothing after a token can be seen"));
  return window[0].get<int64_t>();
}

double read_dropout(const slw::Config& o, const char* name) {
  const double p = o.number(name);
  refuse_if(p >= 1, slw::cat(name, " ", text_of(p), " leaves nothing: it has to be below 1"));
  return p;
}

// What several tensor parallel ranks share has to divide.
void read_tensor_parallel(const slw_run_info& run, GptConfig& c) {
  c.tp_size = std::max(1, run.tp_size);
  c.layers.sequence_parallel = (run.flags & SLW_RUN_SEQUENCE_PARALLEL) != 0;
  constexpr const char* kRanks = "tensor_model_parallel_size";
  refuse_if(c.layers.query_groups < c.tp_size,
            slw::cat(kRanks, " ", c.tp_size, " is more than num_query_groups ", c.layers.query_groups,
                     ": a group of keys and values cannot be shared; nearest: ", kRanks, " ", c.layers.query_groups,
                     ", or num_query_groups ", c.tp_size));
  refuse_indivisible("num_attention_heads", c.layers.heads, kRanks, c.tp_size);
  refuse_indivisible("num_query_groups", c.layers.query_groups, kRanks, c.tp_size);
  refuse_indivisible("ffn_hidden_size", c.layers.ffn, kRanks, c.tp_size);
  refuse_indivisible("the padded vocabulary", c.padded_vocab_size, kRanks, c.tp_size);
}

}  // namespace

GptConfig read_config(const slw::Config& o, const slw_run_info& run) {
  GptConfig c;
  c.vocab_size = run.vocab_size;
  c.padded_vocab_size = std::max(run.vocab_size, run.padded_vocab_size);
  refuse_if(run.vocab_size < 1, slw::cat("the vocabulary has ", run.vocab_size, " ids: the data has to have some"));
  TransformerConfig& t = c.layers;
  read_shape(o, t);
  t.norm = o.string("normalization") == "RMSNorm" ? NormKind::kRmsNorm : NormKind::kLayerNorm;
  t.norm_epsilon = o.number("layernorm_epsilon");
  t.linear_bias = o.boolean("add_bias_linear");
  t.qkv_bias = t.linear_bias || o.boolean("add_qkv_bias");
  t.activation = read_activation(o, t);
  t.qk_norm = o.boolean("qk_layernorm");
  t.window = read_window(o);
  t.hidden_dropout = read_dropout(o, "hidden_dropout");
  t.attention_dropout = read_dropout(o, "attention_dropout");
  read_positions(o, run, c);
  c.is_tied = o.boolean("share_embeddings_and_output_weights");
  t.init_std = o.number("init_method_std");
  t.output_init_std = t.init_std / std::sqrt(2.0 * static_cast<double>(t.num_layers));
  read_tensor_parallel(run, c);
  c.embedding_init_std = o.optional_number("embedding_init_method_std").value_or(t.init_std);
  return c;
}

}  // namespace slipway::gpt
