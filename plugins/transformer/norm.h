// LayerNorm and RMSNorm over the last dimension: y = (x - mean) * rsqrt(variance + eps) * w + b, or without mean and b.
// The gradients of w and b are added into their buffers; their order of sums does not depend on the number of threads.
#pragma once

#include <ATen/ATen.h>

#include <utility>

#include "plugins/transformer/config.h"

namespace slipway::transformer {

struct NormWeights {
  NormKind kind = NormKind::kLayerNorm;
  double epsilon = 1e-5;
  at::Tensor weight, bias;  // parameters; bias undefined for RMSNorm
};

at::Tensor norm(const at::Tensor& x, const NormWeights& weights);

// The head of a residual branch: {norm(x), x}. Going through it, backward adds the two gradients of x in the pass that
// it makes anyway.
std::pair<at::Tensor, at::Tensor> norm_and_residual(const at::Tensor& x, const NormWeights& weights);

}  // namespace slipway::transformer
