// The ranks that share a layer's tensors, and what goes between them. Between the layers an activation is [tokens,
// hidden], the tokens in row-major [batch, seq] order: all of them on every rank, or, with sequence parallelism, an
// equal part on each.
#pragma once

#include <ATen/ATen.h>

#include <bit>
#include <slipway/torch.hpp>

namespace slipway::transformer {

struct TensorParallel {
  slw::TorchGroup group;
  int64_t size = 1, rank = 0;
  bool shares_tokens = false;  // sequence parallel

  bool is_active() const { return size > 1; }
  // What the activations between the layers are.
  slw::TorchPass::Region region() const {
    return shares_tokens ? slw::TorchPass::Region::kShared : slw::TorchPass::Region::kReplicated;
  }
  // The first of this rank among `count` that the ranks hold in equal parts.
  int64_t first_of(int64_t count) const { return rank * (count / size); }
  // Rows of `x` that one rank holds between the layers, when `tokens` are all of them.
  int64_t local_tokens(int64_t tokens) const { return shares_tokens ? tokens / size : tokens; }
  // The dropout of rows that this rank holds between the layers.
  slw::Dropout of_local_tokens(slw::Dropout dropout, int64_t rows) const {
    if (shares_tokens) dropout.tokens.first = rank * rows;
    return dropout;
  }
};

// The ranks in an autograd context, and back. REQUIRES: `tp` outlives the graph.
template <class Context>
void save_ranks(Context* ctx, const TensorParallel* tp) {
  ctx->saved_data["ranks"] = std::bit_cast<int64_t>(tp);
}
template <class Context>
const TensorParallel& saved_ranks(Context* ctx) {
  return *std::bit_cast<const TensorParallel*>(ctx->saved_data["ranks"].toInt());
}

// All tokens' rows, in ranks' order, from this rank's. Under way: `work` says when it is there.
at::Tensor gather_tokens(const at::Tensor& local, const TensorParallel& tp, slw::TorchWork& work);
// This rank's part of the sum of all ranks' `whole` [tokens, width]: its tokens where they are shared, else all of
// them. In place: a view of `whole`, which is used up.
at::Tensor reduce_tokens(const at::Tensor& whole, const TensorParallel& tp, slw::TorchWork& work);
// The reduced tokens in memory of their own, so that `whole` can go. REQUIRES: the work is over.
inline at::Tensor kept(const at::Tensor& reduced, const TensorParallel& tp) {
  return tp.shares_tokens ? reduced.clone() : reduced;
}

// y = x W^T + b where the ranks hold W's rows: takes this rank's tokens, gives all tokens of this rank's columns,
// [tokens, rows of W]. Backward adds the gradient of W while the gradient of x is under way. rows: as in slw::linear.
at::Tensor column_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const TensorParallel& tp, int64_t rows = -1);

// residual + x W^T + b where the ranks hold W's columns and the matching columns of x [tokens..., in]: gives this
// rank's tokens, [tokens, out]. bias and residual (this rank's tokens) may be undefined.
at::Tensor row_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& residual,
                      const TensorParallel& tp);

}  // namespace slipway::transformer
