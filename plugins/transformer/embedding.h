// Word embedding plus, if there is one, position embedding. Gradients are added to the rows that were used and to no
// others. Tensor parallel ranks each hold a part of the word table's rows.
#pragma once

#include <ATen/ATen.h>

#include "plugins/transformer/tensor_parallel.h"

namespace slipway::transformer {

struct EmbeddingWeights {
  at::Tensor word;         // parameter [vocab, hidden], this rank's rows
  at::Tensor position;     // parameter [rows, hidden], or undefined
  int64_t vocab_size = 0;  // ids are below; rows of `word` beyond it are padding
  int64_t first_id = 0;    // of this rank's rows
};

// tokens, positions: i64 [batch, seq] -> fp32 [batch, seq, hidden]; with several tensor parallel ranks this rank's
// tokens, [tokens, hidden]. Throws slw::Error for ids that are out of range, naming the first. positions may be
// undefined without position embedding.
at::Tensor embed(const EmbeddingWeights& weights, const at::Tensor& tokens, const at::Tensor& positions,
                 const TensorParallel& tp);

}  // namespace slipway::transformer
