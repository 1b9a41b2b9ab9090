#include "plugins/transformer/attention.h"

#include <cmath>
#include <limits>

#include "plugins/transformer/heads.h"

namespace slipway::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr double kMasked = -10000;  // what Megatron-core sets masked scores to

// True where query i may not see key j.
at::Tensor hidden_keys(const at::Tensor& positions, std::optional<int64_t> window) {
  const at::Tensor distance = positions.unsqueeze(1) - positions.unsqueeze(0);
  at::Tensor hidden = distance < 0;
  return window ? hidden.logical_or_(distance > *window) : hidden;
}

// Attention weights [batch, heads, seq, keys] with dropout: channel = head * seq + key at the query's position, the
// head counted over the whole layer.
void drop_weights(const slw::Dropout& d, int64_t first_head, const at::Tensor& from, const at::Tensor& to) {
  const int64_t heads = from.size(1), queries = from.size(2), keys = from.size(3);
  const int64_t* samples = slw::sample_ids_of(d);
  const int64_t* positions = d.tokens.positions.const_data_ptr<int64_t>();
  const float* x = from.const_data_ptr<float>();
  float* y = to.mutable_data_ptr<float>();
  at::parallel_for(0, from.numel() / keys, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t query = row % queries, head = first_head + row / queries % heads, sample = row / queries / heads;
      slw::drop_row(d, {samples == nullptr ? 0 : samples[sample], positions[query], head * keys, row * keys}, keys,
                    x + row * keys, nullptr, y + row * keys);
    }
  });
}

class DropWeightsFunction : public torch::autograd::Function<DropWeightsFunction> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& weights, const slw::Dropout& d,
                            int64_t first_head) {
    slw::save_dropout(ctx, d);
    ctx->saved_data["first_head"] = first_head;
    at::Tensor dropped = at::empty_like(weights);
    drop_weights(d, first_head, weights, dropped);
    return dropped;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const at::Tensor from = gradients[0].contiguous();
    at::Tensor to = at::empty_like(from);
    drop_weights(slw::saved_dropout(ctx), ctx->saved_data["first_head"].toInt(), from, to);
    return {to, at::Tensor(), at::Tensor()};
  }
};

// q [b, heads, s, d]; k, v [b, groups, s, d] -> [b, heads, s, d]
at::Tensor explicit_attention(const Heads& h, const at::Tensor& hidden, double scale, const slw::Dropout& dropout,
                              int64_t first_head) {
  const int64_t per_group = h.q.size(1) / h.k.size(1);
  const at::Tensor k = h.k.repeat_interleave(per_group, 1), v = h.v.repeat_interleave(per_group, 1);
  const at::Tensor scores = at::matmul(h.q * scale, k.transpose(-1, -2)).masked_fill_(hidden, kMasked);
  const at::Tensor weights = at::softmax(scores, -1);
  return at::matmul(dropout.active()
                        ? DropWeightsFunction::apply(weights, dropout.reserved_for(weights.numel()), first_head)
                        : weights,
                    v);
}

at::Tensor flash_attention(const Heads& h, const at::Tensor& mask, double scale) {
  const auto added = mask.defined() ? std::optional<at::Tensor>(mask) : std::nullopt;
  return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(h.q, h.k, h.v, /*dropout_p=*/0.0,
                                                                     /*is_causal=*/!mask.defined(), added, scale));
}

Heads normalized_heads(const at::Tensor& qkv, const TransformerConfig& config, const AttentionPart& weights,
                       const RopeTable* rope) {
  Heads h = split_heads(qkv, config, config.qk_norm ? nullptr : rope);
  if (!config.qk_norm) return h;
  h.q = norm(h.q, weights.q_norm);
  h.k = norm(h.k, weights.k_norm);
  if (rope == nullptr) return h;
  return {rotate(h.q, *rope), rotate(h.k, *rope), h.v};
}

}  // namespace

AttentionContext attention_context(const TransformerConfig& config, const at::Tensor& positions) {
  AttentionContext context;
  if (config.rope) context.rope = rope_table(*config.rope, positions);
  const int64_t sequence = positions.size(0);
  if (config.window && *config.window < sequence - 1) {
    const at::Tensor hidden = hidden_keys(positions, config.window);
    context.mask =
        at::zeros({sequence, sequence}, at::kFloat).masked_fill_(hidden, -std::numeric_limits<float>::infinity());
  }
  return context;
}

at::Tensor attention(const at::Tensor& qkv, const TransformerConfig& config, const AttentionPart& weights,
                     const AttentionContext& context, const slw::Dropout& dropout) {
  const Heads by_token = normalized_heads(qkv, config, weights, context.rope ? &*context.rope : nullptr);
  const Heads h{by_token.q.transpose(1, 2), by_token.k.transpose(1, 2), by_token.v.transpose(1, 2)};
  const double scale = 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  const at::Tensor out = dropout.active() ? explicit_attention(h, hidden_keys(dropout.tokens.positions, config.window),
                                                               scale, dropout, weights.first_head)
                                          : flash_attention(h, context.mask, scale);
  return out.transpose(1, 2).reshape({qkv.size(0), qkv.size(1), config.q_width()});
}

}  // namespace slipway::transformer
