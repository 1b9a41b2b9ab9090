// Word embedding plus, if there is one, position embedding. Gradients are added to the rows that were used and to no
// others.
#pragma once

#include <ATen/ATen.h>

namespace slipway::transformer {

struct EmbeddingWeights {
  at::Tensor word;         // parameter [vocab, hidden]
  at::Tensor position;     // parameter [rows, hidden], or undefined
  int64_t vocab_size = 0;  // ids are below; rows of `word` beyond it are padding
};

// tokens, positions: i64 [batch, seq] -> fp32 [batch, seq, hidden]. Throws slw::Error for ids that are out of range,
// naming the first. positions may be undefined without position embedding.
at::Tensor embed(const EmbeddingWeights& weights, const at::Tensor& tokens, const at::Tensor& positions);

}  // namespace slipway::transformer
