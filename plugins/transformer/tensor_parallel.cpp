#include "plugins/transformer/tensor_parallel.h"

namespace slipway::transformer {
namespace {

using slw::Into;
using slw::LinearParts;
using slw::TorchWork;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::optional<at::Tensor> given(const at::Tensor& t) { return t.defined() ? std::optional(t) : std::nullopt; }

// dy W, of the type that products run in.
at::Tensor input_gradient(const at::Tensor& dy, const at::Tensor& weight) {
  at::Tensor dx = at::empty({dy.size(0), weight.size(1)}, dy.options());
  slw::multiply(dy, weight.to(dy.scalar_type()), dx, Into::kReplace);
  return dx;
}

void add_bias_gradient(const at::Tensor& bias, int64_t rows, const at::Tensor& dy) {
  if (bias.defined() && bias.requires_grad()) slw::add_column_sums(bias.mutable_grad().narrow(0, 0, rows), dy);
}

class ColumnLinearFunction : public torch::autograd::Function<ColumnLinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const TensorParallel* tp, int64_t rows) {
    save_ranks(ctx, tp);
    ctx->saved_data["rows"] = rows;
    ctx->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    const at::ScalarType type = slw::product_type(x);
    TorchWork work;
    const at::Tensor all = tp->shares_tokens ? gather_tokens(x, *tp, work) : LinearParts::flat_rows(x);
    at::Tensor y = LinearParts::empty_result(all, rows, weight.size(0), type);
    LinearParts::start(y, bias, std::nullopt);
    work.wait();
    slw::multiply(all.to(type), weight.narrow(0, 0, rows).to(type).t(), y, bias ? Into::kAdd : Into::kReplace);
    return y.to(x.scalar_type());
  }

  // The gradient of x is summed over the ranks while the weight's is computed.
  static variable_list backward(AutogradContext* ctx, variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(5);
    const TensorParallel* tp = &saved_ranks(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const int64_t rows = ctx->saved_data["rows"].toInt();
    const at::ScalarType type = slw::product_type(x);
    const at::Tensor flat_dy = LinearParts::flat_rows(dy).to(type);
    TorchWork gathering, reducing;
    const at::Tensor all = tp->shares_tokens ? gather_tokens(x, *tp, gathering) : LinearParts::flat_rows(x);
    at::Tensor dx;
    if (ctx->needs_input_grad(0)) {
      dx = reduce_tokens(input_gradient(flat_dy, weight.narrow(0, 0, rows)), *tp, reducing);
    }
    gathering.wait();
    if (weight.requires_grad()) {
      LinearParts::add_weight_gradient(weight.mutable_grad().narrow(0, 0, rows), flat_dy, all.to(type));
    }
    add_bias_gradient(saved[2], rows, flat_dy);
    reducing.wait();
    if (dx.defined()) dx = kept(dx, *tp).to(x.scalar_type()).view(x.sizes());
    return {dx, at::Tensor(), at::Tensor(), at::Tensor(), at::Tensor()};
  }
};

class RowLinearFunction : public torch::autograd::Function<RowLinearFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const std::optional<at::Tensor>& residual,
                            const TensorParallel* tp) {
    save_ranks(ctx, tp);
    ctx->saved_data["has_residual"] = residual.has_value();
    ctx->save_for_backward({x, weight, bias.value_or(at::Tensor())});
    const at::ScalarType type = slw::product_type(x);
    const at::Tensor flat = LinearParts::flat_rows(x).to(type);
    at::Tensor partial = at::empty({flat.size(0), weight.size(0)}, flat.options());
    const bool adds = start(partial, bias, residual, *tp);
    slw::multiply(flat, weight.to(type).t(), partial, adds ? Into::kAdd : Into::kReplace);
    TorchWork work;
    const at::Tensor y = reduce_tokens(partial, *tp, work);
    work.wait();
    return kept(y, *tp).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* ctx, variable_list& gradients) {
    const at::Tensor& dy = gradients[0];
    if (!dy.defined()) return variable_list(5);
    const TensorParallel* tp = &saved_ranks(ctx);
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const at::ScalarType type = slw::product_type(x);
    const at::Tensor local_dy = LinearParts::flat_rows(dy).to(type);
    TorchWork gathering;
    const at::Tensor all_dy = tp->shares_tokens ? gather_tokens(local_dy, *tp, gathering) : local_dy;
    add_bias_gradient(saved[2], weight.size(0), local_dy);
    gathering.wait();
    at::Tensor dx;
    if (ctx->needs_input_grad(0)) dx = input_gradient(all_dy, weight).to(x.scalar_type()).view(x.sizes());
    if (weight.requires_grad()) {
      LinearParts::add_weight_gradient(weight.mutable_grad(), all_dy, LinearParts::flat_rows(x).to(type));
    }
    return {dx, at::Tensor(), at::Tensor(), ctx->saved_data["has_residual"].toBool() ? dy : at::Tensor(), at::Tensor()};
  }

 private:
  // Bias and residual enter the sum over ranks once: with shared tokens on the rank that keeps them, else on the first.
  // False: nothing is in `partial`.
  static bool start(at::Tensor& partial, const std::optional<at::Tensor>& bias,
                    const std::optional<at::Tensor>& residual, const TensorParallel& tp) {
    if (!bias && !residual) return false;
    if (!tp.shares_tokens) {
      if (tp.rank == 0) LinearParts::start(partial, bias, residual);
      return tp.rank == 0;
    }
    const int64_t rows = tp.local_tokens(partial.size(0));
    partial.zero_();
    at::Tensor mine = partial.narrow(0, tp.rank * rows, rows);
    LinearParts::start(mine, bias, residual);
    return true;
  }
};

}  // namespace

at::Tensor gather_tokens(const at::Tensor& local, const TensorParallel& tp, TorchWork& work) {
  const at::Tensor mine = LinearParts::flat_rows(local).contiguous();
  at::Tensor all = at::empty({mine.size(0) * tp.size, mine.size(1)}, mine.options());
  work = tp.group.all_gather(mine, all);
  return all;
}

at::Tensor reduce_tokens(const at::Tensor& whole, const TensorParallel& tp, TorchWork& work) {
  if (!tp.shares_tokens) {
    work = tp.group.all_reduce(whole);
    return whole;
  }
  const int64_t rows = tp.local_tokens(whole.size(0));
  const at::Tensor mine = whole.narrow(0, tp.rank * rows, rows);
  work = tp.group.reduce_scatter(whole, mine);
  return mine;
}

at::Tensor column_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const TensorParallel& tp, int64_t rows) {
  return ColumnLinearFunction::apply(x, weight, given(bias), &tp, rows < 0 ? weight.size(0) : rows);
}

at::Tensor row_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& residual,
                      const TensorParallel& tp) {
  return RowLinearFunction::apply(x, weight, given(bias), given(residual), &tp);
}

}  // namespace slipway::transformer
