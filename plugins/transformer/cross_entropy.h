// Cross entropy of next-token logits. Holds one tokens x vocabulary tensor, the logits themselves: forward turns them
// into exponentials in place, backward turns those into the gradient in place.
#pragma once

#include <ATen/ATen.h>

namespace slipway::transformer {

// The sum over tokens of mask * loss, an fp64 scalar. logits: fp32 [batch, seq, vocab], used up by the call; labels:
// i64 and mask: fp32, both [batch, seq]. A label outside the vocabulary gives log(sum(exp(x - max))), as in
// Megatron-core; it has to be masked out.
at::Tensor masked_cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mask);

}  // namespace slipway::transformer
