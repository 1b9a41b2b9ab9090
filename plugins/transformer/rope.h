// Rotary position embeddings: tables, and the head-wise copies that rotate.
#pragma once

#include <ATen/ATen.h>

#include "plugins/transformer/config.h"

namespace slipway::transformer {

struct RopeTable {
  at::Tensor cosine, sine;  // fp32 [seq, dim / 2]
  bool interleaved = false;
};

// positions: i64 [seq]. The angles are computed in fp32 step by step as Megatron-core does.
RopeTable rope_table(const RopeConfig& config, const at::Tensor& positions);

// Where the heads of one token lie: head j at (j / per_group) * group_stride + (j % per_group) * dim.
struct HeadLayout {
  int64_t token_stride = 0, per_group = 1, group_stride = 0;
  int64_t offset(int64_t head, int64_t dim) const {
    return (head / per_group) * group_stride + (head % per_group) * dim;
  }
};

struct HeadCopy {
  int64_t tokens = 0, sequence = 0, heads = 0, dim = 0;  // tokens = batch x sequence, the sequence running fastest
  HeadLayout from, to;
  const RopeTable* rope = nullptr;  // nullptr: a plain copy
  bool inverse = false;             // rotates back, which is also the gradient
};

void copy_heads(const HeadCopy& copy, const float* from, float* to);

}  // namespace slipway::transformer
