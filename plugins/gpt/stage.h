// The code of one pipeline stage: embedding, layers, head, as far as the stage has them.
#pragma once

#include <slipway/torch.hpp>
#include <vector>

#include "plugins/gpt/config.h"
#include "plugins/transformer/embedding.h"
#include "plugins/transformer/layer.h"

namespace slipway::gpt {

class GptStage : public slw::TorchStage {
 public:
  // REQUIRES: `config` outlives the stage.
  GptStage(const GptConfig& config, const transformer::TensorParallel& tp, const slw_stage& stage,
           const slw::TorchParams& params);

  slw::TorchOutputs forward(const slw::TorchPass& pass) override;

 private:
  at::Tensor embedded(const slw::TorchPass& pass) const;
  // The loss of this stage's logits; undefined when nobody wants it.
  at::Tensor loss(const at::Tensor& hidden, const slw::TorchPass& pass) const;
  at::Tensor local_logits(const at::Tensor& normal) const;
  // All ranks' logits to the host, if it asked for them.
  void give_logits(const at::Tensor& local, const slw::TorchPass& pass) const;

  const GptConfig& config_;
  transformer::TensorParallel tp_;
  transformer::TransformerConfig part_;  // of each layer that this rank computes
  int64_t first_id_, num_ids_;           // of the vocabulary, without padding
  bool has_embedding_, has_head_;
  transformer::EmbeddingWeights embedding_;
  std::vector<transformer::TransformerLayer> layers_;
  transformer::NormWeights final_norm_;
  at::Tensor output_weight_;
};

}  // namespace slipway::gpt
