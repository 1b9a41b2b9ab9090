#include "plugins/transformer/cross_entropy.h"

#include <cmath>
#include <limits>
#include <slipway/torch.hpp>

#include "plugins/transformer/simd.h"

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Logits {
  float* data;
  int64_t row_stride, vocab, first_id;  // of this rank
  const int64_t* labels;

  float* row(int64_t r) const { return data + r * row_stride; }
  bool has_label(int64_t r) const { return labels[r] >= first_id && labels[r] - first_id < vocab; }
  float& target(int64_t r) const { return row(r)[labels[r] - first_id]; }
};

SLIPWAY_INLINE float row_maximum(const float* x, int64_t vocab) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats most = Floats{} + kLowest;
  for (int64_t c = 0; c < vocab; c += kLanes) most = larger(get(x, c, vocab, kLowest), most);
  return largest(most);
}

// Of each row.
struct RowNumbers {
  float *maxima, *sums, *targets;
};

// The row becomes exp(x - most); its sum, and the label's x - most, 0 where it is not here.
SLIPWAY_INLINE void exponentiate_row(const Logits& l, int64_t r, float most, const RowNumbers& rows) {
  float* x = l.row(r);
  rows.targets[r] = l.has_label(r) ? l.target(r) - most : 0.0f;
  Floats total{};
  for (int64_t c = 0; c < l.vocab; c += kLanes) {
    const Floats e = exp(get(x, c, l.vocab, -std::numeric_limits<float>::infinity()) - most);
    total += e;
    put(x, c, l.vocab, e);
  }
  rows.sums[r] = sum(total);
}

SLW_HOT_LOOP void find_maxima(const Logits& l, int64_t begin, int64_t end, float* maxima) {
  for (int64_t r = begin; r < end; ++r) maxima[r] = row_maximum(l.row(r), l.vocab);
}

// By the maxima of all ranks.
SLW_HOT_LOOP void exponentiate(const Logits& l, int64_t begin, int64_t end, const RowNumbers& rows) {
  for (int64_t r = begin; r < end; ++r) exponentiate_row(l, r, rows.maxima[r], rows);
}

// By the rows' own maxima, while each is in the cache.
SLW_HOT_LOOP void exponentiate_alone(const Logits& l, int64_t begin, int64_t end, const RowNumbers& rows) {
  for (int64_t r = begin; r < end; ++r) exponentiate_row(l, r, row_maximum(l.row(r), l.vocab), rows);
}

// Rows become (softmax - one_hot(label)) * scale * mask.
SLW_HOT_LOOP void to_gradient(const Logits& l, int64_t begin, int64_t end, const float* sums, const float* scales) {
  for (int64_t r = begin; r < end; ++r) {
    float* x = l.row(r);
    const float factor = scales[r] / sums[r];
    for (int64_t c = 0; c < l.vocab; c += kLanes) put(x, c, l.vocab, get(x, c, l.vocab) * factor);
    if (l.has_label(r)) l.target(r) -= scales[r];
  }
}

Logits view_of(const at::Tensor& logits, const at::Tensor& labels, int64_t first_id) {
  return {logits.mutable_data_ptr<float>(), logits.stride(-2), logits.size(-1), first_id,
          labels.const_data_ptr<int64_t>()};
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& mask, int64_t first_id, const TensorParallel* tp) {
    const int64_t count = labels.numel();
    at::Tensor maxima = at::empty({count}, at::kFloat);
    at::Tensor sums_and_targets = at::empty({2, count}, at::kFloat);  // one tensor: one collective
    float* sums = sums_and_targets.mutable_data_ptr<float>();
    const RowNumbers rows{maxima.mutable_data_ptr<float>(), sums, sums + count};
    const Logits l = view_of(logits, labels, first_id);
    const auto by_rows = [&](auto&& body) { at::parallel_for(0, count, 4, body); };
    if (tp->is_active()) {
      by_rows([&](int64_t begin, int64_t end) { find_maxima(l, begin, end, rows.maxima); });
      tp->group.all_reduce(maxima, SLW_MAX).wait();
      by_rows([&](int64_t begin, int64_t end) { exponentiate(l, begin, end, rows); });
      tp->group.all_reduce(sums_and_targets).wait();
    } else {
      by_rows([&](int64_t begin, int64_t end) { exponentiate_alone(l, begin, end, rows); });
    }
    torch::autograd::impl::bump_version(logits);
    ctx->saved_data["first_id"] = first_id;
    ctx->save_for_backward({logits, labels, mask, sums_and_targets[0]});
    return at::scalar_tensor(masked_sum(rows.sums, rows.targets, mask), at::kDouble);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &logits = saved[0], &labels = saved[1];
    const at::Tensor scales = saved[2].reshape(-1) * gradients[0].to(at::kFloat);
    const float *sum = saved[3].const_data_ptr<float>(), *scale = scales.const_data_ptr<float>();
    const Logits l = view_of(logits, labels, ctx->saved_data["first_id"].toInt());
    at::parallel_for(0, labels.numel(), 4, [&](int64_t begin, int64_t end) { to_gradient(l, begin, end, sum, scale); });
    variable_list result(5);
    result[0] = logits.detach();
    return result;
  }

 private:
  // In fp64 and in order: the same for any number of threads.
  static double masked_sum(const float* sums, const float* targets, const at::Tensor& mask) {
    const float* weight = mask.const_data_ptr<float>();
    double total = 0;
    for (int64_t r = 0; r < mask.numel(); ++r) {
      if (weight[r] == 0) continue;
      const float loss = std::log(sums[r]) - targets[r];
      total += static_cast<double>(loss) * static_cast<double>(weight[r]);
    }
    return total;
  }
};

}  // namespace

at::Tensor masked_cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mask,
                                    int64_t first_id, const TensorParallel& tp) {
  return CrossEntropyFunction::apply(logits, labels.contiguous(), mask.contiguous(), first_id, &tp);
}

}  // namespace slipway::transformer
