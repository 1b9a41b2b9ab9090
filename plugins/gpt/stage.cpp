#include "plugins/gpt/stage.h"

#include <algorithm>

#include "plugins/gpt/names.h"
#include "plugins/transformer/cross_entropy.h"

namespace slipway::gpt {

GptStage::GptStage(const GptConfig& config, const transformer::TensorParallel& tp, const slw_stage& stage,
                   const slw::TorchParams& params)
    : config_(config),
      tp_(tp),
      part_(config.layers.shared_by(tp.size)),
      first_id_(tp.first_of(config.padded_vocab_size)),
      num_ids_(std::clamp<int64_t>(config.vocab_size - first_id_, 0, config.padded_vocab_size / tp.size)),
      has_embedding_(stage.pre_process != 0),
      has_head_(stage.post_process != 0) {
  if (has_embedding_) {
    embedding_.word = params.at(kWordEmbedding);
    embedding_.vocab_size = config.vocab_size;
    embedding_.first_id = first_id_;
    if (config.has_learned_positions) embedding_.position = params.at(kPositionEmbedding);
  }
  for (int32_t i = stage.layer_begin; i < stage.layer_end; ++i) {
    layers_.emplace_back(params, transformer::LayerShare{part_, tp_}, layer_name(i));
  }
  if (!has_head_) return;
  final_norm_ = transformer::bound_norm(params, part_, kFinalNorm);
  output_weight_ = params.at(config.is_tied ? kWordEmbedding : kOutputLayer);
}

slw::TorchOutputs GptStage::forward(const slw::TorchPass& pass) {
  const transformer::AttentionContext context = transformer::attention_context(part_, pass.tokens().positions);
  at::Tensor hidden = has_embedding_ ? embedded(pass) : pass.inputs().at(0);
  for (const transformer::TransformerLayer& layer : layers_) hidden = layer.forward(hidden, pass, context);
  if (!has_head_) return {{hidden}, {}, {}};
  return {{}, {loss(hidden, pass)}, {}};
}

at::Tensor GptStage::embedded(const slw::TorchPass& pass) const {
  const auto word_in_use = pass.acquire(kWordEmbedding);
  std::optional<slw::UnitUse> position_in_use;
  const at::Tensor tokens = pass.field("tokens");
  at::Tensor positions;
  if (config_.has_learned_positions) {
    position_in_use.emplace(pass.acquire(kPositionEmbedding));
    positions = pass.optional_field("position_ids");
    if (!positions.defined()) positions = pass.tokens().positions.expand_as(tokens);
  }
  const at::Tensor x = transformer::embed(embedding_, tokens, positions, tp_);
  const slw::Dropout dropout = pass.dropout_at("embedding", part_.hidden_dropout, tp_.region());
  return slw::dropout(x, tp_.of_local_tokens(dropout, x.size(0)));
}

at::Tensor GptStage::loss(const at::Tensor& hidden, const slw::TorchPass& pass) const {
  const auto norm_in_use = pass.acquire(kFinalNorm);
  const auto head_in_use = pass.acquire(config_.is_tied ? kWordEmbedding : kOutputLayer);
  const at::Tensor logits = local_logits(transformer::norm(hidden, final_norm_));
  give_logits(logits, pass);
  if (!pass.wants_loss(0)) return {};
  return transformer::masked_cross_entropy_sum(logits, pass.field("labels"), pass.field("loss_mask"), first_id_, tp_);
}

at::Tensor GptStage::local_logits(const at::Tensor& normal) const {
  if (!tp_.is_active()) return slw::linear(normal, output_weight_, {}, {}, num_ids_);
  return transformer::column_linear(normal, output_weight_, {}, tp_, num_ids_);
}

void GptStage::give_logits(const at::Tensor& local, const slw::TorchPass& pass) const {
  if (pass.args().logits == nullptr) return;
  if (!tp_.is_active()) return pass.give_logits(local);
  const int64_t tokens = local.size(0), columns = config_.padded_vocab_size / tp_.size;
  at::Tensor padded = at::zeros({tokens, columns}, local.options());
  padded.narrow(1, 0, num_ids_).copy_(local.detach());
  at::Tensor all = at::empty({tp_.size, tokens, columns}, local.options());
  tp_.group.all_gather(padded, all).wait();
  const at::Tensor by_token = all.permute({1, 0, 2}).reshape({tokens, config_.padded_vocab_size});
  pass.give_logits(by_token.narrow(1, 0, config_.vocab_size).reshape({pass.args().batch_size, -1, config_.vocab_size}));
}

}  // namespace slipway::gpt
