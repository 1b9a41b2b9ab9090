#include "plugins/gpt/cost.h"

#include <algorithm>

namespace slipway::gpt {
namespace {

// Multiply-adds per token of one layer's matrix products with weights.
double layer_products(const transformer::TransformerConfig& c) {
  const int64_t mlp = c.hidden * (c.fc1_width() + c.ffn);
  return static_cast<double>(mlp + c.hidden * (c.qkv_width() + c.q_width()));
}

// Floats per token that attention keeps for backward, the qkv projection's input aside.
int64_t attention_floats(const transformer::TransformerConfig& c, bool is_explicit, int64_t sequence) {
  const int64_t normalized = c.qk_norm ? c.q_width() + c.kv_width() + 2 * (c.heads + c.query_groups) : 0;
  if (is_explicit) return normalized + 4 * c.q_width() + 2 * c.heads * sequence;  // two score matrices
  return normalized + c.qkv_width() + c.q_width() + c.heads;
}

// Floats per token that one layer keeps for backward: norms keep their input and two statistics, linear layers and the
// activation their input. The layer's own input is `hidden` of them.
int64_t layer_floats(const transformer::TransformerConfig& c, bool is_explicit, int64_t sequence) {
  return 4 * c.hidden + 4 + attention_floats(c, is_explicit, sequence) + c.fc1_width() + c.ffn;
}

int64_t saved_floats(const GptConfig& config, const slw_stage& stage, int64_t tokens, int64_t sequence) {
  const transformer::TransformerConfig& c = config.layers;
  int64_t per_token = (stage.layer_end - stage.layer_begin) * layer_floats(c, c.attention_dropout > 0, sequence);
  if (stage.pre_process == 0) per_token -= c.hidden;  // the first layer's input is the host's
  if (stage.post_process != 0) per_token += 2 * c.hidden + config.padded_vocab_size + 3;
  const int64_t mask = c.window && c.attention_dropout == 0 ? sequence * sequence : 0;
  const int64_t rope = c.rope ? sequence * c.rope->dim : 0;
  return per_token * tokens + mask + rope;
}

// The largest moment of a layer's backward: the gradients of the MLP's inner values, or of the heads.
int64_t workspace_floats(const GptConfig& config, int64_t tokens) {
  const transformer::TransformerConfig& c = config.layers;
  return tokens * (2 * c.hidden + std::max(c.fc1_width() + 2 * c.ffn, 2 * c.qkv_width() + c.q_width()));
}

}  // namespace

slw_cost cost_of(const GptConfig& config, const slw_io_args& args) {
  const slw_stage& stage = *args.stage;
  const double tokens = static_cast<double>(args.batch_size) * static_cast<double>(args.seq_length);
  const double layers = stage.layer_end - stage.layer_begin;
  const double head = stage.post_process == 0
                          ? 0
                          : static_cast<double>(config.layers.hidden) * static_cast<double>(config.padded_vocab_size);
  const double scores = static_cast<double>(args.seq_length) * static_cast<double>(config.layers.q_width());
  slw_cost cost = slw::make<slw_cost>();
  cost.flops_forward = 2 * tokens * (layers * layer_products(config.layers) + head + layers * scores);
  cost.flops_backward = 2 * cost.flops_forward;
  const int64_t num_tokens = args.batch_size * args.seq_length, float_bytes = sizeof(float);
  cost.saved_bytes = float_bytes * saved_floats(config, stage, num_tokens, args.seq_length);
  cost.workspace_bytes = float_bytes * workspace_floats(config, num_tokens);
  return cost;
}

}  // namespace slipway::gpt
