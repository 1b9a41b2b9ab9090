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
  int64_t row_stride, vocab;
  const int64_t* labels;

  float* row(int64_t r) const { return data + r * row_stride; }
  bool has_label(int64_t r) const { return labels[r] >= 0 && labels[r] < vocab; }
};

SLIPWAY_INLINE float row_maximum(const float* x, int64_t vocab) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  Floats most = Floats{} + kLowest;
  for (int64_t c = 0; c < vocab; c += kLanes) most = larger(get(x, c, vocab, kLowest), most);
  return largest(most);
}

// Rows become exp(x - max); sums[r] is their sum, losses[r] the loss.
SLW_HOT_LOOP void exponentiate(const Logits& l, int64_t begin, int64_t end, float* sums, float* losses) {
  for (int64_t r = begin; r < end; ++r) {
    float* x = l.row(r);
    const float most = row_maximum(x, l.vocab);
    const float target = l.has_label(r) ? x[l.labels[r]] - most : 0.0f;
    Floats total{};
    for (int64_t c = 0; c < l.vocab; c += kLanes) {
      const Floats e = exp(get(x, c, l.vocab, -std::numeric_limits<float>::infinity()) - most);
      total += e;
      put(x, c, l.vocab, e);
    }
    sums[r] = sum(total);
    losses[r] = std::log(sums[r]) - target;
  }
}

// Rows become (softmax - one_hot(label)) * scale * mask.
SLW_HOT_LOOP void to_gradient(const Logits& l, int64_t begin, int64_t end, const float* sums, const float* scales) {
  for (int64_t r = begin; r < end; ++r) {
    float* x = l.row(r);
    const float factor = scales[r] / sums[r];
    for (int64_t c = 0; c < l.vocab; c += kLanes) put(x, c, l.vocab, get(x, c, l.vocab) * factor);
    if (l.has_label(r)) x[l.labels[r]] -= scales[r];
  }
}

Logits view_of(const at::Tensor& logits, const at::Tensor& labels) {
  return {logits.mutable_data_ptr<float>(), logits.stride(-2), logits.size(-1), labels.const_data_ptr<int64_t>()};
}

class CrossEntropyFunction : public torch::autograd::Function<CrossEntropyFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& logits, const at::Tensor& labels,
                            const at::Tensor& mask) {
    const int64_t count = labels.numel();
    at::Tensor sums = at::empty({count}, at::kFloat), losses = at::empty({count}, at::kFloat);
    float *sum = sums.mutable_data_ptr<float>(), *loss = losses.mutable_data_ptr<float>();
    const Logits l = view_of(logits, labels);
    at::parallel_for(0, count, 4, [&](int64_t begin, int64_t end) { exponentiate(l, begin, end, sum, loss); });
    torch::autograd::impl::bump_version(logits);
    ctx->save_for_backward({logits, labels, mask, sums});
    return at::scalar_tensor(masked_sum(losses, mask), at::kDouble);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &logits = saved[0], &labels = saved[1];
    const at::Tensor scales = saved[2].reshape(-1) * gradients[0].to(at::kFloat);
    const float *sum = saved[3].const_data_ptr<float>(), *scale = scales.const_data_ptr<float>();
    const Logits l = view_of(logits, labels);
    at::parallel_for(0, labels.numel(), 4, [&](int64_t begin, int64_t end) { to_gradient(l, begin, end, sum, scale); });
    return {logits.detach(), at::Tensor(), at::Tensor()};
  }

 private:
  // In fp64 and in order: the same for any number of threads.
  static double masked_sum(const at::Tensor& losses, const at::Tensor& mask) {
    const float *loss = losses.const_data_ptr<float>(), *weight = mask.const_data_ptr<float>();
    double total = 0;
    for (int64_t r = 0; r < losses.numel(); ++r) {
      if (weight[r] != 0) total += static_cast<double>(loss[r]) * static_cast<double>(weight[r]);
    }
    return total;
  }
};

}  // namespace

at::Tensor masked_cross_entropy_sum(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mask) {
  return CrossEntropyFunction::apply(logits, labels.contiguous(), mask.contiguous());
}

}  // namespace slipway::transformer
