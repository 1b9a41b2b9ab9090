// One pre-norm transformer layer: x + proj(attention(norm(x))), then x + fc2(act(fc1(norm(x)))). Its parameters have
// Megatron-core's names below a prefix such as "decoder.layers.7".
#pragma once

#include <slipway/torch.hpp>
#include <string>

#include "plugins/transformer/attention.h"
#include "plugins/transformer/config.h"
#include "plugins/transformer/norm.h"
#include "plugins/transformer/tensor_parallel.h"

namespace slipway::transformer {

// Declares weight and bias of a norm.
void declare_norm(slw::ParamSink& params, const TransformerConfig& config, const std::string& name, int64_t width,
                  const std::string& unit);

// Declares all parameters of the layer, which is one gather unit.
void declare_layer(slw::ParamSink& params, const TransformerConfig& config, const std::string& prefix);

NormWeights bound_norm(const slw::TorchParams& params, const TransformerConfig& config, const std::string& name);

// What all layers of a stage share: this rank's part of the configuration, and the ranks that have the others.
struct LayerShare {
  const TransformerConfig& config;
  const TensorParallel& tp;
};

class TransformerLayer {
 public:
  // REQUIRES: what `share` refers to outlives the layer.
  TransformerLayer(const slw::TorchParams& params, const LayerShare& share, const std::string& prefix);

  // x [batch, seq, hidden]; with several tensor parallel ranks this rank's tokens, [tokens, hidden].
  at::Tensor forward(const at::Tensor& x, const slw::TorchPass& pass, const AttentionContext& context) const;

 private:
  struct Linear {
    at::Tensor weight, bias;
  };
  static Linear bound_linear(const slw::TorchParams& params, const std::string& name);
  at::Tensor attend(const at::Tensor& x, const slw::TorchPass& pass, const AttentionContext& context) const;
  at::Tensor mlp(const at::Tensor& x, const slw::TorchPass& pass) const;
  // residual + dropout(x W^T + b)
  at::Tensor join(const at::Tensor& x, const Linear& linear, const at::Tensor& residual,
                  const slw::Dropout& dropout) const;

  // All tokens of this rank's columns.
  at::Tensor spread(const at::Tensor& x, const Linear& linear) const;

  const TransformerConfig& config_;
  const TensorParallel& tp_;
  std::string prefix_;
  NormWeights input_norm_, mlp_norm_;
  AttentionPart attention_;
  Linear qkv_, proj_, fc1_, fc2_;
};

}  // namespace slipway::transformer
