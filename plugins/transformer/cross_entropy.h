// Cross entropy of next-token logits (reference: Megatron-core's vocab-parallel cross entropy, two collectives: the
// maximum, then sums and target logits as one). Holds one tokens x vocabulary tensor, the logits themselves: forward
// turns them into exponentials in place, backward turns those into the gradient in place.
#pragma once

#include <ATen/ATen.h>

#include "plugins/transformer/tensor_parallel.h"

namespace slipway::transformer {

// The sum over tokens of mask * loss, an fp64 scalar, the same on all tensor parallel ranks. logits: fp32 [tokens...,
// vocab], used up by the call; with several ranks each has its columns, those of the ids from `first_id` on, perhaps
// none. labels: i64 and mask: fp32, one per token. A label outside the vocabulary gives log(sum(exp(x - max))), as in
// Megatron-core; it has to be masked out.
at::Tensor masked_cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mask,
                                    int64_t first_id, const TensorParallel& tp);

}  // namespace slipway::transformer
