#include "plugins/gpt/cost.h"

namespace slipway::gpt {
namespace {

// Multiply-adds per token of one layer's matrix products with weights.
double layer_products(const transformer::TransformerConfig& c) {
  const int64_t mlp = c.hidden * (c.fc1_width() + c.ffn);
  return static_cast<double>(mlp + c.hidden * (c.qkv_width() + c.q_width()));
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
  return cost;
}

}  // namespace slipway::gpt
