#include "plugins/gpt/cost.h"

#include <algorithm>
#include <map>
#include <string>

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

// Tokens whose activations between the layers this rank keeps.
int64_t local_tokens(const GptConfig& config, int64_t tokens) {
  return config.layers.sequence_parallel ? tokens / config.tp_size : tokens;
}

// Norms keep their input and two statistics, linear layers and the activation their input. Between the layers that is
// of this rank's tokens, inside them of all tokens and this rank's channels. The layer's own input is `hidden` floats.
int64_t layer_floats(const GptConfig& config, int64_t tokens, int64_t sequence) {
  const transformer::TransformerConfig& c = config.layers;
  const transformer::TransformerConfig part = c.shared_by(config.tp_size);
  const int64_t inside = attention_floats(part, c.attention_dropout > 0, sequence) + part.fc1_width() + part.ffn;
  return local_tokens(config, tokens) * (4 * c.hidden + 4) + tokens * inside;
}

int64_t head_floats(const GptConfig& config, int64_t tokens) {
  const int64_t logits = config.padded_vocab_size / config.tp_size;
  return local_tokens(config, tokens) * (2 * config.layers.hidden + 2) + tokens * (logits + 2);
}

int64_t saved_floats(const GptConfig& config, const slw_stage& stage, int64_t tokens, int64_t sequence) {
  const transformer::TransformerConfig& c = config.layers;
  int64_t floats = (stage.layer_end - stage.layer_begin) * layer_floats(config, tokens, sequence);
  if (stage.pre_process == 0) floats -= local_tokens(config, tokens) * c.hidden;  // the first input is the host's
  if (stage.post_process != 0) floats += head_floats(config, tokens);
  const int64_t mask = c.window && c.attention_dropout == 0 ? sequence * sequence : 0;
  const int64_t rope = c.rope ? sequence * c.rope->dim : 0;
  return floats + mask + rope;
}

// The largest moment of a layer's backward: the gradients of the MLP's inner values, or of the heads; and what was
// gathered for a product.
int64_t workspace_floats(const GptConfig& config, int64_t tokens) {
  const transformer::TransformerConfig part = config.layers.shared_by(config.tp_size);
  const int64_t gathered = config.layers.sequence_parallel ? config.layers.hidden : 0;
  return tokens * (2 * config.layers.hidden + gathered +
                   std::max(part.fc1_width() + 2 * part.ffn, 2 * part.qkv_width() + part.q_width()));
}

// How often each kind of collective over tp is called, and of how many floats.
class TensorParallelVolume {
 public:
  TensorParallelVolume(const GptConfig& config, int64_t tokens) : config_(config), tokens_(tokens) {}

  void add(const slw_stage& stage, bool forward_only) {
    const int64_t layers = stage.layer_end - stage.layer_begin;
    sum_tokens(2 * layers);                          // forward of attention's and the MLP's second product
    if (!forward_only) sum_tokens(2 * layers);       // backward of their first
    gather_tokens((forward_only ? 2 : 6) * layers);  // forward of the first, backward of both
    if (stage.pre_process != 0) {
      sum_tokens(1);
      if (!forward_only) gather_tokens(1);
    }
    if (stage.post_process == 0) return;
    gather_tokens(forward_only ? 1 : 2);
    if (!forward_only) sum_tokens(1);
    reduce(1, tokens_);      // largest logit
    reduce(1, 2 * tokens_);  // sums of exponentials, logits of labels
  }
  void put_into(slw::CostSink& costs) const {
    for (const auto& [op, volume] : volumes_) costs.comm("tp", op.c_str(), volume.calls, volume.floats * 4);
  }

 private:
  struct Volume {
    int64_t calls = 0, floats = 0;
  };
  int64_t width() const { return config_.layers.hidden; }
  void count(const char* op, int64_t calls, int64_t floats) {
    if (calls == 0) return;
    volumes_[op].calls += calls;
    volumes_[op].floats += calls * floats;
  }
  void reduce(int64_t calls, int64_t floats) { count("all_reduce", calls, floats); }
  void sum_tokens(int64_t calls) {
    count(config_.layers.sequence_parallel ? "reduce_scatter" : "all_reduce", calls, tokens_ * width());
  }
  void gather_tokens(int64_t calls) {
    if (config_.layers.sequence_parallel) count("all_gather", calls, local_tokens(config_, tokens_) * width());
  }

  const GptConfig& config_;
  int64_t tokens_;
  std::map<std::string, Volume> volumes_;
};

}  // namespace

slw_cost cost_of(const GptConfig& config, const slw_io_args& args, slw::CostSink& costs) {
  const slw_stage& stage = *args.stage;
  const int64_t num_tokens = args.batch_size * args.seq_length, float_bytes = sizeof(float);
  if (config.tp_size > 1) {
    TensorParallelVolume volume(config, num_tokens);
    volume.add(stage, (args.flags & SLW_COST_FORWARD_COMM) != 0);
    volume.put_into(costs);
  }
  const auto tokens = static_cast<double>(num_tokens);
  const double layers = stage.layer_end - stage.layer_begin;
  const double head = stage.post_process == 0
                          ? 0
                          : static_cast<double>(config.layers.hidden) * static_cast<double>(config.padded_vocab_size);
  const double scores = static_cast<double>(args.seq_length) * static_cast<double>(config.layers.q_width());
  slw_cost cost = slw::make<slw_cost>();
  cost.flops_forward = 2 * tokens * (layers * layer_products(config.layers) + head + layers * scores) /
                       static_cast<double>(config.tp_size);
  cost.flops_backward = 2 * cost.flops_forward;
  cost.saved_bytes = float_bytes * saved_floats(config, stage, num_tokens, args.seq_length);
  cost.workspace_bytes = float_bytes * workspace_floats(config, num_tokens);
  return cost;
}

}  // namespace slipway::gpt
