// Sixteen floats at a time, for the inner loops of this library. What a lane computes does not depend on the
// instruction set that the loop was compiled for. Everything is inlined into functions marked SLW_HOT_LOOP.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace slipway::transformer {

#define SLIPWAY_INLINE __attribute__((always_inline)) inline

constexpr int64_t kLanes = 16;
using Floats = float __attribute__((vector_size(64)));
using Ints = int32_t __attribute__((vector_size(64)));

SLIPWAY_INLINE Floats load(const float* from) {
  Floats x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
SLIPWAY_INLINE void store(float* to, Floats x) { std::memcpy(to, &x, sizeof x); }

// The first `count` lanes; the others are `rest`.
SLIPWAY_INLINE Floats load_part(const float* from, int64_t count, float rest) {
  float lanes[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) lanes[i] = i < count ? from[i] : rest;
  return load(lanes);
}
SLIPWAY_INLINE void store_part(float* to, Floats x, int64_t count) {
  float lanes[kLanes];
  store(lanes, x);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

// Lanes [c, c + 16) of a row of `width`, as far as it goes.
SLIPWAY_INLINE Floats get(const float* row, int64_t c, int64_t width, float rest = 0) {
  return c + kLanes <= width ? load(row + c) : load_part(row + c, width - c, rest);
}
SLIPWAY_INLINE void put(float* row, int64_t c, int64_t width, Floats x) {
  if (c + kLanes <= width) {
    store(row + c, x);
  } else {
    store_part(row + c, x, width - c);
  }
}

SLIPWAY_INLINE float sum(Floats x) {
  float lanes[kLanes];
  store(lanes, x);
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

SLIPWAY_INLINE Floats larger(Floats a, Floats b) { return a > b ? a : b; }

SLIPWAY_INLINE float largest(Floats x) {
  float lanes[kLanes];
  store(lanes, x);
  return *std::max_element(lanes, lanes + kLanes);
}

// e^x, to about 1e-7 relative; 0 below -87. REQUIRES: x <= 88.
SLIPWAY_INLINE Floats exp(Floats x) {
  constexpr float kLog2e = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const Floats scaled = x * kLog2e;
  const Floats n = (scaled + kRound) - kRound;
  const Floats r = (x - n * kLn2High) - n * kLn2Low;
  // Cephes expf: e^r on [-ln2/2, ln2/2].
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  Floats power;
  std::memcpy(&power, &exponent, sizeof power);
  const Floats result = p * power;
  return x < -87.0f ? Floats{} : result;
}

}  // namespace slipway::transformer
