#include "plugins/gpt/stage.h"

#include "plugins/gpt/names.h"
#include "plugins/transformer/cross_entropy.h"

namespace slipway::gpt {

GptStage::GptStage(const GptConfig& config, const slw_stage& stage, const slw::TorchParams& params)
    : config_(config), has_embedding_(stage.pre_process != 0), has_head_(stage.post_process != 0) {
  if (has_embedding_) {
    embedding_.word = params.at(kWordEmbedding);
    embedding_.vocab_size = config.vocab_size;
    if (config.has_learned_positions) embedding_.position = params.at(kPositionEmbedding);
  }
  for (int32_t i = stage.layer_begin; i < stage.layer_end; ++i) {
    layers_.emplace_back(params, config.layers, layer_name(i));
  }
  if (!has_head_) return;
  final_norm_ = transformer::bound_norm(params, config.layers, kFinalNorm);
  output_weight_ = params.at(config.is_tied ? kWordEmbedding : kOutputLayer);
}

slw::TorchOutputs GptStage::forward(const slw::TorchPass& pass) {
  const transformer::AttentionContext context = transformer::attention_context(config_.layers, pass.tokens().positions);
  at::Tensor hidden = has_embedding_ ? embedded(pass) : pass.inputs().at(0);
  for (const transformer::TransformerLayer& layer : layers_) hidden = layer.forward(hidden, pass, context);
  if (!has_head_) return {{hidden}, {}, {}};
  return {{}, {loss(hidden, pass)}, {}};
}

at::Tensor GptStage::embedded(const slw::TorchPass& pass) const {
  const at::Tensor tokens = pass.field("tokens");
  at::Tensor positions;
  if (config_.has_learned_positions) {
    positions = pass.optional_field("position_ids");
    if (!positions.defined()) positions = pass.tokens().positions.expand_as(tokens);
  }
  return slw::dropout(transformer::embed(embedding_, tokens, positions),
                      pass.dropout_at("embedding", config_.layers.hidden_dropout));
}

at::Tensor GptStage::loss(const at::Tensor& hidden, const slw::TorchPass& pass) const {
  const at::Tensor normal = transformer::norm(hidden, final_norm_);
  const at::Tensor logits = slw::linear(normal, output_weight_, {}, {}, config_.vocab_size);
  pass.give_logits(logits);
  if (!pass.wants_loss(0)) return {};
  return transformer::masked_cross_entropy_sum(logits, pass.field("labels"), pass.field("loss_mask"));
}

}  // namespace slipway::gpt
