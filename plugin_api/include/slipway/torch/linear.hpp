// y = residual + x W^T + b for models over the core's memory. What a plain at::linear would waste:
//   - it saves the parameter itself, so swapping the parameter's memory between forward and backward is seen, and no
//     converted or transposed copy of a weight is ever held;
//   - the gradient of W is added into the core's buffer by the matrix product itself;
//   - the residual is the product's starting value, not another pass over memory.
// Operands that are not fp32 are converted to fp32 for CPU kernels, which are slow in bf16 on most processors.
// Pure functions; any thread.
#pragma once

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <slipway/torch/product.hpp>
#include <slipway/torch/tensor.hpp>

SLW_SDK_BEGIN

// gradient[c] += the sum over rows of values[:, c]; the order of sums does not depend on the number of threads.
inline void add_column_sums(const at::Tensor& gradient, const at::Tensor& values) {
  if (gradient.scalar_type() != at::kFloat || values.scalar_type() != at::kFloat || !values.is_contiguous() ||
      !gradient.is_contiguous() || !values.device().is_cpu()) {
    gradient.add_(values.sum(0, /*keepdim=*/false, gradient.scalar_type()));
    return;
  }
  constexpr int64_t kRows = 64, kColumns = 128;  // partial sums of 64 rows keep the rounding error low
  const int64_t rows = values.size(0), columns = values.size(1);
  const float* from = values.const_data_ptr<float>();
  float* to = gradient.mutable_data_ptr<float>();
  at::parallel_for(0, (columns + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kColumns, width = std::min(kColumns, columns - first);
      for (int64_t top = 0; top < rows; top += kRows) {
        float partial[kColumns] = {};
        for (int64_t r = top; r < std::min(rows, top + kRows); ++r) {
          const float* row = from + r * columns + first;
          for (int64_t c = 0; c < width; ++c) partial[c] += row[c];
        }
        for (int64_t c = 0; c < width; ++c) to[first + c] += partial[c];
      }
    }
  });
}

// The type in which a matrix product runs.
inline at::ScalarType product_type(const at::Tensor& t) {
  return t.device().is_cpu() && t.scalar_type() != at::kDouble ? at::kFloat : t.scalar_type();
}

// What products of this kind are made of, for layers that put communication between them.
struct LinearParts {
  static at::Tensor flat_rows(const at::Tensor& t) { return t.dim() == 2 ? t : t.flatten(0, -2); }

  // Rows as far apart as the whole weight's would be, so that they stay aligned.
  static at::Tensor empty_result(const at::Tensor& x, int64_t rows, int64_t row_stride, at::ScalarType type) {
    std::vector<int64_t> shape = x.sizes().vec(), strides(shape.size(), 1);
    shape.back() = rows;
    for (std::size_t d = shape.size() - 1; d-- > 0;) {
      strides[d] = strides[d + 1] * (d + 2 == shape.size() ? row_stride : shape[d + 1]);
    }
    return at::empty_strided(shape, strides, x.options().dtype(type));
  }

  // y = bias + residual, as far as they are there: what a product is then added to.
  static void start(at::Tensor& y, const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& residual) {
    if (bias && residual) {
      at::add_out(y, flat_rows(*residual), bias->narrow(0, 0, y.size(1)));
    } else if (residual) {
      y.copy_(flat_rows(*residual));
    } else if (bias) {
      y.copy_(bias->narrow(0, 0, y.size(1)).expand_as(y));
    }
  }

  // gradient += dy^T x
  static void add_weight_gradient(const at::Tensor& gradient, const at::Tensor& dy, const at::Tensor& x) {
    if (gradient.scalar_type() == dy.scalar_type()) {
      multiply(dy.t(), x, gradient, Into::kAdd);
    } else {
      gradient.add_(at::mm(dy.t(), x));
    }
  }
};

class LinearFunction : public torch::autograd::Function<LinearFunction>, private LinearParts {
 public:
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static at::Tensor forward(Context* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& residual,
                            int64_t rows) {
    ctx->saved_data["rows"] = rows;
    ctx->saved_data["has_residual"] = residual.has_value();
    ctx->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    const at::ScalarType type = product_type(x);
    at::Tensor y = empty_result(x, rows, weight.size(0), type);
    at::Tensor flat = y.view({-1, rows});
    start(flat, bias, residual);
    multiply(flat_rows(x).to(type), weight.narrow(0, 0, rows).to(type).t(), flat,
             bias || residual ? Into::kAdd : Into::kReplace);
    return y.to(x.scalar_type());
  }

  static Tensors backward(Context* ctx, Tensors& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return Tensors(5);
    const Tensors saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1], &bias = saved[2];
    const int64_t rows = ctx->saved_data["rows"].toInt();
    const at::ScalarType type = product_type(x);
    const at::Tensor flat_dy = flat_rows(dy).to(type);
    if (weight.requires_grad()) {
      add_weight_gradient(weight.mutable_grad().narrow(0, 0, rows), flat_dy, flat_rows(x).to(type));
    }
    if (bias.defined() && bias.requires_grad()) add_column_sums(bias.mutable_grad().narrow(0, 0, rows), flat_dy);
    at::Tensor dx;
    if (ctx->needs_input_grad(0)) {
      dx = at::empty({flat_dy.size(0), weight.size(1)}, flat_dy.options());
      multiply(flat_dy, weight.narrow(0, 0, rows).to(type), dx, Into::kReplace);
      dx = dx.to(x.scalar_type()).view(x.sizes());
    }
    // The weight and the bias have their gradients already.
    return {dx, at::Tensor(), at::Tensor(), ctx->saved_data["has_residual"].toBool() ? dy : at::Tensor(), at::Tensor()};
  }
};

// REQUIRES: weight [out, in] and bias [out] are parameters (leaves with their gradient bound); x [..., in] and residual
// [..., out] share their leading sizes. rows: use only the first rows of the weight, as for a padded vocabulary
// (-1: all); the result is then not contiguous.
inline at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias = {},
                         const at::Tensor& residual = {}, int64_t rows = -1) {
  const auto given = [](const at::Tensor& t) { return t.defined() ? std::optional<at::Tensor>(t) : std::nullopt; };
  return LinearFunction::apply(x, weight, given(bias), given(residual), rows < 0 ? weight.size(0) : rows);
}

SLW_SDK_END
