// Causal self-attention between the qkv projection and the output projection.
//
// Two ways, by what is asked for: LibTorch's flash kernel, which never holds a score matrix; and, when attention
// weights are dropped, an explicit one that holds one [batch, heads, seq, seq] tensor. Both give the same numbers but
// for rounding.
#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <slipway/torch.hpp>

#include "plugins/transformer/norm.h"
#include "plugins/transformer/rope.h"

namespace slipway::transformer {

// What all layers of a pass share.
struct AttentionContext {
  std::optional<RopeTable> rope;
  at::Tensor mask;  // fp32 [seq, seq], added to the scores; undefined: causal, without a window
};

// Makes it for the tokens of a pass.
AttentionContext attention_context(const TransformerConfig& config, const at::Tensor& positions);

struct AttentionPart {
  NormWeights q_norm, k_norm;  // used when config.qk_norm
  int64_t first_head = 0;      // of this rank, counted over the whole layer
};

// qkv [batch, seq, query_groups x (q heads, k, v) x head_dim] -> [batch, seq, heads x head_dim]. Of a layer that
// several ranks share these are this rank's heads, and `config` counts them; `first_head` is the first of them.
at::Tensor attention(const at::Tensor& qkv, const TransformerConfig& config, const AttentionPart& weights,
                     const AttentionContext& context, const slw::Dropout& dropout);

}  // namespace slipway::transformer
