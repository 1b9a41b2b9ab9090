#include "plugins/transformer/norm.h"

#include <cmath>
#include <slipway/torch.hpp>

#include "plugins/transformer/simd.h"

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Rows [., width] and their two statistics; mean is 0 for RMSNorm.
struct Rows {
  const float* x;
  float* mean;
  float* rstd;
  int64_t width;
};

struct RowStatistics {
  float mean, rstd;
};

SLIPWAY_INLINE RowStatistics statistics(const float* x, int64_t width, bool centred, float epsilon) {
  Floats total{}, squares{};
  if (centred) {
    for (int64_t c = 0; c < width; c += kLanes) total += get(x, c, width);
  }
  const float mean = sum(total) / static_cast<float>(width);
  for (int64_t c = 0; c < width; c += kLanes) {
    const Floats d = get(x, c, width, mean) - mean;
    squares += d * d;
  }
  return {mean, 1.0f / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon)};
}

SLW_HOT_LOOP void forward_rows(const Rows& rows, const NormWeights& n, int64_t begin, int64_t end, float* y) {
  const float* w = n.weight.const_data_ptr<float>();
  const float* b = n.bias.defined() ? n.bias.const_data_ptr<float>() : nullptr;
  const int64_t width = rows.width;
  for (int64_t r = begin; r < end; ++r) {
    const float* x = rows.x + r * width;
    const RowStatistics s = statistics(x, width, n.kind == NormKind::kLayerNorm, static_cast<float>(n.epsilon));
    rows.mean[r] = s.mean;
    rows.rstd[r] = s.rstd;
    for (int64_t c = 0; c < width; c += kLanes) {
      const Floats scaled = (get(x, c, width) - s.mean) * s.rstd * get(w, c, width);
      put(y + r * width, c, width, b == nullptr ? scaled : scaled + get(b, c, width));
    }
  }
}

struct RowGradients {
  const float* dy;
  const float* w;
  const float* add;  // a further gradient of x, or nullptr
  float* dx;         // may be `add`
  bool centred;
};

struct Range {
  int64_t begin, end;
};

// dx of some rows; their part of dw and db is added to `dw` and `db`.
SLW_HOT_LOOP void backward_rows(const Rows& rows, const RowGradients& g, Range range, float* dw, float* db) {
  const int64_t width = rows.width;
  const float inverse = 1.0f / static_cast<float>(width);
  for (int64_t r = range.begin; r < range.end; ++r) {
    const float *x = rows.x + r * width, *dy = g.dy + r * width;
    const float mean = rows.mean[r], rstd = rows.rstd[r];
    Floats total{}, along{};
    for (int64_t c = 0; c < width; c += kLanes) {
      const Floats wg = get(g.w, c, width) * get(dy, c, width);
      total += wg;
      along += wg * ((get(x, c, width, mean) - mean) * rstd);
    }
    const float c1 = g.centred ? sum(total) * inverse : 0.0f, c2 = sum(along) * inverse;
    for (int64_t c = 0; c < width; c += kLanes) {
      const Floats gradient = get(dy, c, width), normal = (get(x, c, width, mean) - mean) * rstd;
      const Floats through = rstd * (get(g.w, c, width) * gradient - c1 - normal * c2);
      put(dw, c, width, get(dw, c, width) + gradient * normal);
      put(db, c, width, get(db, c, width) + gradient);
      put(g.dx + r * width, c, width, g.add == nullptr ? through : get(g.add + r * width, c, width) + through);
    }
  }
}

// Rows are cut into blocks of this many, whatever the number of threads; each block has its own partial dw and db.
constexpr int64_t kBlockRows = 64;

void add_partial_sums(const at::Tensor& parameter, const float* partial, int64_t blocks, int64_t stride) {
  if (!parameter.defined() || !parameter.requires_grad()) return;
  float* gradient = parameter.mutable_grad().mutable_data_ptr<float>();
  const int64_t width = parameter.numel();
  at::parallel_for(0, width, 64, [&](int64_t begin, int64_t end) {
    for (int64_t block = 0; block < blocks; ++block) {
      for (int64_t c = begin; c < end; ++c) gradient[c] += partial[block * stride + c];
    }
  });
}

bool is_sole_owner(const at::Tensor& t) { return t.use_count() == 1 && t.storage().use_count() == 1; }

class NormFunction : public torch::autograd::Function<NormFunction> {
 public:
  // n holds weight and bias too, but autograd sees only arguments.
  static variable_list forward(AutogradContext* ctx, const at::Tensor& x, const NormWeights& n,
                               const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
    const at::Tensor input = x.contiguous();
    const int64_t width = input.size(-1), count = input.numel() / width;
    at::Tensor mean = at::empty({count}, at::kFloat), rstd = at::empty({count}, at::kFloat);
    at::Tensor y = at::empty_like(input);
    const Rows rows{input.const_data_ptr<float>(), mean.mutable_data_ptr<float>(), rstd.mutable_data_ptr<float>(),
                    width};
    at::parallel_for(0, count, 16, [&](int64_t begin, int64_t end) {
      forward_rows(rows, n, begin, end, y.mutable_data_ptr<float>());
    });
    ctx->saved_data["centred"] = n.kind == NormKind::kLayerNorm;
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({input, mean, rstd, weight, bias.value_or(at::Tensor())});
    return {y, x};
  }

  static variable_list backward(AutogradContext* ctx, variable_list& gradients) {
    at::Tensor residual = std::move(gradients[1]);
    gradients[1].reset();
    if (gradients[0].defined()) residual = input_gradient(ctx, gradients[0].contiguous(), std::move(residual));
    return {residual, at::Tensor(), at::Tensor(), at::Tensor()};
  }

 private:
  static at::Tensor input_gradient(AutogradContext* ctx, const at::Tensor& dy, at::Tensor residual) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[3], &bias = saved[4];
    const int64_t width = x.size(-1), count = x.numel() / width, blocks = (count + kBlockRows - 1) / kBlockRows;
    const Rows rows{x.const_data_ptr<float>(), saved[1].mutable_data_ptr<float>(), saved[2].mutable_data_ptr<float>(),
                    width};
    const bool in_place = residual.defined() && residual.is_contiguous() && is_sole_owner(residual);
    at::Tensor dx = in_place ? residual : at::empty_like(x);
    if (residual.defined()) residual = residual.contiguous();
    const float* add = residual.defined() ? residual.const_data_ptr<float>() : nullptr;
    const RowGradients gradients{dy.const_data_ptr<float>(), weight.const_data_ptr<float>(), add,
                                 dx.mutable_data_ptr<float>(), ctx->saved_data["centred"].toBool()};
    at::Tensor partial = at::zeros({blocks, 2, width}, at::kFloat);
    float* sums = partial.mutable_data_ptr<float>();
    at::parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        float* dw = sums + 2 * b * width;
        backward_rows(rows, gradients, {b * kBlockRows, std::min(count, (b + 1) * kBlockRows)}, dw, dw + width);
      }
    });
    add_partial_sums(weight, sums, blocks, 2 * width);
    add_partial_sums(bias, sums + width, blocks, 2 * width);
    return dx;
  }
};

}  // namespace

std::pair<at::Tensor, at::Tensor> norm_and_residual(const at::Tensor& x, const NormWeights& weights) {
  const auto bias = weights.bias.defined() ? std::optional<at::Tensor>(weights.bias) : std::nullopt;
  variable_list both = NormFunction::apply(x, weights, weights.weight, bias);
  return {std::move(both[0]), std::move(both[1])};
}

at::Tensor norm(const at::Tensor& x, const NormWeights& weights) { return norm_and_residual(x, weights).first; }

}  // namespace slipway::transformer
