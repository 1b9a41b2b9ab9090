// Dropout whose mask is a pure function of (seed, place, sample, position, channel), as slipway/philox.h says: the same
// for every layout, for a repeated forward, and for any slice. No mask is kept: backward draws it again.
// CPU and fp32 only. Pure functions; any thread.
#pragma once

#include <ATen/Parallel.h>
#include <slipway/model.h>
#include <slipway/philox.h>
#include <torch/csrc/autograd/custom_function.h>

#include <slipway/torch/tensor.hpp>

// Compiles a hot loop for several instruction sets; the best one is picked when the plugin is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SLW_HOT_LOOP __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SLW_HOT_LOOP
#endif

SLW_SDK_BEGIN

// Which tokens the rows of a tensor are: row r is token first + r of [batch, seq], the sequence running fastest.
struct TokenIds {
  at::Tensor samples;    // i64 [batch]: ordinals since sample 0
  at::Tensor positions;  // i64 [seq]: global positions
  int64_t first = 0;     // above 0 where a rank holds a later part of the tokens (sequence parallel)
};

// Dropout at one place of the model; p = 0 leaves everything as it is. Under rng=megatron the mask is not keyed by
// tokens: element i of the tensor is lane i % 4 of block offset + i / 4 of a stream, which is reserved when it is used.
struct Dropout {
  uint64_t key = 0;
  double p = 0;
  TokenIds tokens;
  slw_step_hooks* hooks = nullptr;  // with rng_reserve; else nullptr
  const char* stream = "";          // to reserve from
  uint64_t offset = 0;              // once reserved
  bool is_sequential = false;

  bool active() const { return p > 0; }
  // With the blocks that `elements` numbers need, if it draws from a stream. Call once, in forward.
  Dropout reserved_for(int64_t elements) const {
    if (hooks == nullptr) return *this;
    Dropout reserved = *this;
    reserved.hooks = nullptr;
    reserved.is_sequential = true;
    const auto blocks = static_cast<uint64_t>((elements + 3) / 4);
    call([&](slw_error* e) { return hooks->rng_reserve(hooks, stream, blocks, &reserved.key, &reserved.offset, e); });
    return reserved;
  }
};

// What a backward needs to draw the mask again, in an autograd context and back.
template <class Context>
void save_dropout(Context* ctx, const Dropout& d) {
  ctx->saved_data["key"] = static_cast<int64_t>(d.key);
  ctx->saved_data["p"] = d.p;
  ctx->saved_data["first"] = d.tokens.first;
  ctx->saved_data["offset"] = static_cast<int64_t>(d.offset);
  ctx->saved_data["is_sequential"] = d.is_sequential;
  ctx->save_for_backward({d.tokens.samples, d.tokens.positions});
}
template <class Context>
Dropout saved_dropout(Context* ctx) {
  const auto saved = ctx->get_saved_variables();
  Dropout d;
  d.key = static_cast<uint64_t>(ctx->saved_data["key"].toInt());
  d.p = ctx->saved_data["p"].toDouble();
  d.tokens = {saved[0], saved[1], ctx->saved_data["first"].toInt()};
  d.offset = static_cast<uint64_t>(ctx->saved_data["offset"].toInt());
  d.is_sequential = ctx->saved_data["is_sequential"].toBool();
  return d;
}

// 32 numbers: those of eight counters that follow each other. `counter` holds the first one's lower two words, the
// lower in its lower half; `upper` the upper two.
__attribute__((always_inline)) inline void philox_words(uint64_t key, uint64_t counter, uint64_t upper, uint32_t* out) {
  using Lanes = uint64_t __attribute__((vector_size(64)));  // 8 counters, a 32-bit word in each lane
  constexpr uint64_t kLow = 0xFFFFFFFFu;
  const Lanes counters = Lanes{0, 1, 2, 3, 4, 5, 6, 7} + counter;
  Lanes c0 = counters & kLow, c1 = counters >> 32;
  Lanes c2 = Lanes{} + (upper & kLow), c3 = Lanes{} + (upper >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const Lanes p0 = c0 * uint64_t{0xD2511F53u}, p1 = c2 * uint64_t{0xCD9E8D57u};
    c0 = (p1 >> 32) ^ c1 ^ uint64_t { k0 };
    c1 = p1 & kLow;
    c2 = (p0 >> 32) ^ c3 ^ uint64_t { k1 };
    c3 = p0 & kLow;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const Lanes low = c0 | (c1 << 32), high = c2 | (c3 << 32);
  for (std::ptrdiff_t i = 0; i < 8; ++i) {
    const uint64_t pair[2] = {low[i], high[i]};
    std::memcpy(out + 4 * i, pair, sizeof pair);
  }
}

// nullptr in a stream's mask, which does not depend on them.
inline const int64_t* sample_ids_of(const Dropout& d) {
  return d.is_sequential ? nullptr : d.tokens.samples.const_data_ptr<int64_t>();
}

// Which token a row is of, the channel of its first element, and its element in the whole tensor.
struct DropPlace {
  int64_t sample, position, first_channel, first_element;
};

// One row: to[c] = (add ? add[c] : 0) + (kept ? from[c] / (1 - p) : 0). `to` may be `from` or `add`.
SLW_HOT_LOOP [[maybe_unused]] static void drop_row(const Dropout& d, const DropPlace& place, int64_t width,
                                                   const float* from, const float* add, float* to) {
  const uint32_t threshold = slw_dropout_threshold(d.p);
  const float scale = static_cast<float>(1.0 / (1.0 - d.p));
  const int64_t first = d.is_sequential ? place.first_element : place.first_channel;
  const uint64_t sample = d.is_sequential ? 0 : static_cast<uint64_t>(place.sample);
  const uint64_t base = d.is_sequential ? d.offset : static_cast<uint64_t>(place.position) << 32;
  const int64_t skew = first % 4;
  for (int64_t begin = -skew; begin < width; begin += 32) {
    uint32_t words[32];
    philox_words(d.key, base + static_cast<uint64_t>((first + begin) / 4), sample, words);
    const int64_t end = std::min<int64_t>(begin + 32, width);
    for (int64_t c = std::max<int64_t>(0, begin); c < end; ++c) {
      const float kept = words[c - begin] < threshold ? 0.0f : from[c] * scale;
      to[c] = add == nullptr ? kept : add[c] + kept;
    }
  }
}

// All rows of [tokens..., channels]; `add` may be undefined. All contiguous.
inline void drop_rows(const Dropout& d, const at::Tensor& from, const at::Tensor& add, const at::Tensor& to) {
  const int64_t sequence = d.tokens.positions.size(0), channels = from.size(-1), first = d.tokens.first;
  const int64_t* samples = sample_ids_of(d);
  const int64_t* positions = d.tokens.positions.const_data_ptr<int64_t>();
  const float* x = from.const_data_ptr<float>();
  const float* a = add.defined() ? add.const_data_ptr<float>() : nullptr;
  float* y = to.mutable_data_ptr<float>();
  at::parallel_for(0, from.numel() / channels, 16, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * channels, token = first + row;
      const int64_t sample = samples == nullptr ? 0 : samples[token / sequence];
      drop_row(d, {sample, positions[token % sequence], 0, at}, channels, x + at, a ? a + at : nullptr, y + at);
    }
  });
}

class DropoutFunction : public torch::autograd::Function<DropoutFunction> {
 public:
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static at::Tensor forward(Context* ctx, const at::Tensor& x, const std::optional<at::Tensor>& residual,
                            const Dropout& d) {
    save_dropout(ctx, d);
    ctx->saved_data["has_residual"] = residual.has_value();
    at::Tensor y = at::empty(x.sizes(), x.options());
    drop_rows(d, x.contiguous(), residual ? residual->contiguous() : at::Tensor(), y);
    return y;
  }

  static Tensors backward(Context* ctx, Tensors& gradients) {
    at::Tensor dx = at::empty(gradients[0].sizes(), gradients[0].options());
    drop_rows(saved_dropout(ctx), gradients[0].contiguous(), {}, dx);
    return {dx, ctx->saved_data["has_residual"].toBool() ? gradients[0] : at::Tensor(), at::Tensor()};
  }
};

// residual + dropout(x), or dropout(x) without a residual; fp32 [tokens..., channels].
inline at::Tensor dropout(const at::Tensor& x, const Dropout& d, const at::Tensor& residual = {}) {
  if (!d.active()) return residual.defined() ? residual + x : x;
  return DropoutFunction::apply(x, residual.defined() ? std::optional<at::Tensor>(residual) : std::nullopt,
                                d.reserved_for(x.numel()));
}

SLW_SDK_END
