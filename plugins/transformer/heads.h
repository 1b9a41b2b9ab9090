// Takes the fused qkv projection apart into heads, rotating q and k on the way, and puts gradients together again. One
// pass over memory each way.
#pragma once

#include <ATen/ATen.h>

#include "plugins/transformer/rope.h"

namespace slipway::transformer {

struct Heads {
  at::Tensor q, k, v;  // fp32 [batch, seq, heads or query_groups, head_dim]
};

// qkv [batch, seq, query_groups x (q heads, k, v) x head_dim]; rope nullptr: nothing is rotated.
Heads split_heads(const at::Tensor& qkv, const TransformerConfig& config, const RopeTable* rope);

// x [batch, seq, heads, head_dim], contiguous.
at::Tensor rotate(const at::Tensor& x, const RopeTable& rope);

}  // namespace slipway::transformer
