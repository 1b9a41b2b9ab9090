#include "plugins/transformer/heads.h"

#include <torch/csrc/autograd/custom_function.h>

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// How q, k and v lie in a fused row, and what one is as a tensor of its own.
struct Fused {
  int64_t batch, sequence, groups, per_group, dim;

  int64_t group_width() const { return (per_group + 2) * dim; }
  int64_t offset(int part) const { return part == 0 ? 0 : (per_group + part - 1) * dim; }
  int64_t heads(int part) const { return part == 0 ? groups * per_group : groups; }
  HeadLayout inside(int part) const { return {groups * group_width(), part == 0 ? per_group : 1, group_width()}; }
  HeadLayout alone(int part) const { return {heads(part) * dim, heads(part), 0}; }
  HeadCopy copy(int part, const RopeTable* rope) const {
    return {batch * sequence, sequence, heads(part), dim, inside(part), alone(part), part < 2 ? rope : nullptr, false};
  }
};

variable_list saved_rope(const RopeTable* rope) {
  return rope == nullptr ? variable_list{} : variable_list{rope->cosine, rope->sine};
}

std::optional<RopeTable> rope_of(AutogradContext* ctx) {
  const variable_list saved = ctx->get_saved_variables();
  if (saved.empty()) return std::nullopt;
  return RopeTable{saved[0], saved[1], ctx->saved_data["interleaved"].toBool()};
}

class SplitFunction : public torch::autograd::Function<SplitFunction> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& qkv, const Fused& f, const RopeTable* rope) {
    ctx->saved_data["shape"] = std::vector<int64_t>{f.batch, f.sequence, f.groups, f.per_group, f.dim};
    ctx->saved_data["interleaved"] = rope != nullptr && rope->interleaved;
    ctx->save_for_backward(saved_rope(rope));
    const float* from = qkv.const_data_ptr<float>();
    variable_list parts;
    for (int part = 0; part < 3; ++part) {
      parts.push_back(at::empty({f.batch, f.sequence, f.heads(part), f.dim}, qkv.options()));
      copy_heads(f.copy(part, rope), from + f.offset(part), parts.back().mutable_data_ptr<float>());
    }
    return parts;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const std::vector<int64_t> shape = ctx->saved_data["shape"].toIntVector();
    const Fused f{shape[0], shape[1], shape[2], shape[3], shape[4]};
    const std::optional<RopeTable> rope = rope_of(ctx);
    at::Tensor whole = at::empty({f.batch, f.sequence, f.groups * f.group_width()}, gradients[0].options());
    for (int part = 0; part < 3; ++part) {
      HeadCopy copy = f.copy(part, rope ? &*rope : nullptr);
      std::swap(copy.from, copy.to);
      copy.inverse = true;
      const at::Tensor from = gradients[part].contiguous();
      copy_heads(copy, from.const_data_ptr<float>(), whole.mutable_data_ptr<float>() + f.offset(part));
    }
    return {whole, at::Tensor(), at::Tensor()};
  }
};

class RotateFunction : public torch::autograd::Function<RotateFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const RopeTable* rope) {
    ctx->saved_data["interleaved"] = rope->interleaved;
    ctx->save_for_backward(saved_rope(rope));
    return rotated(x, *rope, false);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    return {rotated(gradients[0].contiguous(), *rope_of(ctx), true), at::Tensor()};
  }

 private:
  static at::Tensor rotated(const at::Tensor& x, const RopeTable& rope, bool inverse) {
    const int64_t heads = x.size(2), dim = x.size(3);
    const HeadLayout layout{heads * dim, heads, 0};
    at::Tensor y = at::empty_like(x);
    copy_heads({x.size(0) * x.size(1), x.size(1), heads, dim, layout, layout, &rope, inverse},
               x.const_data_ptr<float>(), y.mutable_data_ptr<float>());
    return y;
  }
};

}  // namespace

Heads split_heads(const at::Tensor& qkv, const TransformerConfig& config, const RopeTable* rope) {
  const Fused fused{qkv.size(0), qkv.size(1), config.query_groups, config.heads_per_group(), config.head_dim};
  variable_list parts = SplitFunction::apply(qkv.contiguous(), fused, rope);
  return {parts[0], parts[1], parts[2]};
}

at::Tensor rotate(const at::Tensor& x, const RopeTable& rope) { return RotateFunction::apply(x, &rope); }

}  // namespace slipway::transformer
