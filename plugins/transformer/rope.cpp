#include "plugins/transformer/rope.h"

#include <cmath>
#include <slipway/torch.hpp>

#include "plugins/transformer/simd.h"

namespace slipway::transformer {
namespace {

// Llama 3: long wavelengths are stretched by the factor, short ones kept, those between blended.
at::Tensor scaled(const at::Tensor& frequencies, double factor) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kLow = 1, kHigh = 4, kOriginalLength = 8192;
  const at::Tensor wavelength = 2 * kPi / frequencies;
  const at::Tensor stretched = at::where(wavelength > kOriginalLength / kLow, frequencies / factor, frequencies);
  const at::Tensor smooth = (kOriginalLength / wavelength - kLow) / (kHigh - kLow);
  const at::Tensor blended = (1 - smooth) * stretched / factor + smooth * stretched;
  const at::Tensor is_medium =
      at::logical_and(wavelength >= kOriginalLength / kHigh, wavelength <= kOriginalLength / kLow);
  return at::where(is_medium, blended, stretched);
}

struct Rotation {
  const float* cosine;
  const float* sine;
  float sign;
};

SLIPWAY_INLINE void rotate_halves(const Rotation& r, int64_t half, const float* from, float* to) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = from[i], b = from[i + half], s = r.sign * r.sine[i];
    to[i] = a * r.cosine[i] - b * s;
    to[i + half] = b * r.cosine[i] + a * s;
  }
}
SLIPWAY_INLINE void rotate_pairs(const Rotation& r, int64_t half, const float* from, float* to) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = from[2 * i], b = from[2 * i + 1], s = r.sign * r.sine[i];
    to[2 * i] = a * r.cosine[i] - b * s;
    to[2 * i + 1] = b * r.cosine[i] + a * s;
  }
}

SLW_HOT_LOOP void copy_tokens(const HeadCopy& copy, const float* from, float* to, int64_t begin, int64_t end) {
  const RopeTable* rope = copy.rope;
  const int64_t half = rope == nullptr ? 0 : rope->cosine.size(1), rest = copy.dim - 2 * half;
  for (int64_t token = begin; token < end; ++token) {
    Rotation rotation{nullptr, nullptr, copy.inverse ? -1.0f : 1.0f};
    if (rope != nullptr) {
      const int64_t row = token % copy.sequence * half;
      rotation.cosine = rope->cosine.const_data_ptr<float>() + row;
      rotation.sine = rope->sine.const_data_ptr<float>() + row;
    }
    for (int64_t head = 0; head < copy.heads; ++head) {
      const float* x = from + token * copy.from.token_stride + copy.from.offset(head, copy.dim);
      float* y = to + token * copy.to.token_stride + copy.to.offset(head, copy.dim);
      if (half > 0 && rope->interleaved) {
        rotate_pairs(rotation, half, x, y);
      } else if (half > 0) {
        rotate_halves(rotation, half, x, y);
      }
      std::memcpy(y + 2 * half, x + 2 * half, static_cast<std::size_t>(rest) * sizeof(float));
    }
  }
}

}  // namespace

RopeTable rope_table(const RopeConfig& config, const at::Tensor& positions) {
  const at::Tensor exponents = at::arange(0, config.dim, 2, at::kFloat) / config.dim;
  at::Tensor frequencies = 1.0 / at::pow(config.base, exponents);
  if (config.scaling_factor) frequencies = scaled(frequencies, *config.scaling_factor);
  at::Tensor places = positions.to(at::kFloat);
  if (config.interpolation_factor) places = places * (1 / *config.interpolation_factor);
  const at::Tensor angles = at::outer(places, frequencies);
  return {at::cos(angles), at::sin(angles), config.interleaved};
}

void copy_heads(const HeadCopy& copy, const float* from, float* to) {
  at::parallel_for(0, copy.tokens, 16, [&](int64_t begin, int64_t end) { copy_tokens(copy, from, to, begin, end); });
}

}  // namespace slipway::transformer
