#include "plugins/transformer/activation.h"

#include <torch/csrc/autograd/custom_function.h>

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kQuickSlope = 1.702;

at::Tensor value(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kSilu:
      return at::silu(x);
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kSquaredRelu:
      return at::relu(x).square_();
    case Activation::kQuickGelu:
      return at::sigmoid(x * kQuickSlope).mul_(x);
  }
  TORCH_CHECK(false, "unknown activation ", static_cast<int>(activation));
}

// dy * act'(x)
at::Tensor gradient(Activation activation, const at::Tensor& dy, const at::Tensor& x) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu_backward(dy, x);
    case Activation::kGeluTanh:
      return at::gelu_backward(dy, x, "tanh");
    case Activation::kSilu:
      return at::silu_backward(dy, x);
    case Activation::kRelu:
      return at::threshold_backward(dy, x, 0);
    case Activation::kSquaredRelu:
      return at::relu(x).mul_(2).mul_(dy);
    case Activation::kQuickGelu:
      return at::silu_backward(dy, x * kQuickSlope);
  }
  TORCH_CHECK(false, "unknown activation ", static_cast<int>(activation));
}

// Keeps x alone: what it needs of the values is computed again in backward.
class ActivationFunction : public torch::autograd::Function<ActivationFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, Activation activation, bool gated) {
    ctx->saved_data["activation"] = static_cast<int64_t>(activation);
    ctx->saved_data["gated"] = gated;
    ctx->save_for_backward({x});
    if (!gated) return value(activation, x);
    const std::vector<at::Tensor> halves = x.chunk(2, -1);
    return value(activation, halves[0]).mul_(halves[1]);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const auto activation = static_cast<Activation>(ctx->saved_data["activation"].toInt());
    const at::Tensor x = ctx->get_saved_variables()[0];
    const at::Tensor& dy = gradients[0];
    if (!ctx->saved_data["gated"].toBool()) return {gradient(activation, dy, x), at::Tensor(), at::Tensor()};
    const std::vector<at::Tensor> halves = x.chunk(2, -1);
    at::Tensor dx = at::empty_like(x);
    const std::vector<at::Tensor> to = dx.chunk(2, -1);
    at::Tensor through = dy * halves[1];
    to[0].copy_(gradient(activation, through, halves[0]));
    at::mul_out(through, dy, value(activation, halves[0]));
    to[1].copy_(through);
    return {dx, at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor activate(const at::Tensor& x, Activation activation, bool gated) {
  return ActivationFunction::apply(x, activation, gated);
}

}  // namespace slipway::transformer
