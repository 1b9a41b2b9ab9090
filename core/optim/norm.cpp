#include "core/optim/norm.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace slipway {
namespace {

constexpr std::size_t kChunk = 16384;  // elements
constexpr std::size_t kLanes = 16;

struct Chunk {
  std::size_t span;
  std::span<const float> values;
};

std::vector<Chunk> cut(GradientSpans gradients) {
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    for (std::size_t begin = 0; begin < gradients[i].size(); begin += kChunk) {
      chunks.push_back({i, gradients[i].subspan(begin, std::min(kChunk, gradients[i].size() - begin))});
    }
  }
  return chunks;
}

// Element i goes to lane i % kLanes, whatever the width of the processor's vectors.
double chunk_squares(std::span<const float> values) {
  std::array<double, kLanes> lanes{};
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    const double value = values[i];
    lanes[i - whole] += value * value;
  }
  double total = 0.0;
  for (const double lane : lanes) total += lane;
  return total;
}

// Without their sign bit, the bits of floats are ordered like their magnitudes, with NaN above infinity.
double chunk_largest(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) largest = std::max(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
  return std::bit_cast<float>(largest);
}

std::vector<double> measure_chunks(const std::vector<Chunk>& chunks, int num_threads,
                                   double (*measure)(std::span<const float>)) {
  std::vector<double> parts(chunks.size());
  const auto size = static_cast<std::int64_t>(chunks.size());
#pragma omp parallel for schedule(static) num_threads(std::max(num_threads, 1)) if (num_threads > 1 && size > 1)
  for (std::int64_t i = 0; i < size; ++i) {
    parts[static_cast<std::size_t>(i)] = measure(chunks[static_cast<std::size_t>(i)].values);
  }
  return parts;
}

// A float squared is far from the range of double, so a part is infinite or NaN only if a gradient is.
std::optional<std::size_t> first_non_finite(const std::vector<Chunk>& chunks, const std::vector<double>& parts) {
  const auto bad = std::find_if(parts.begin(), parts.end(), [](double part) { return !std::isfinite(part); });
  if (bad == parts.end()) return std::nullopt;
  return chunks[static_cast<std::size_t>(bad - parts.begin())].span;
}

}  // namespace

GradientMeasure sum_of_squares(GradientSpans gradients, int num_threads) {
  const std::vector<Chunk> chunks = cut(gradients);
  const std::vector<double> parts = measure_chunks(chunks, num_threads, chunk_squares);
  GradientMeasure result{0.0, first_non_finite(chunks, parts)};
  for (const double part : parts) result.value += part;
  return result;
}

GradientMeasure largest_magnitude(GradientSpans gradients, int num_threads) {
  const std::vector<Chunk> chunks = cut(gradients);
  const std::vector<double> parts = measure_chunks(chunks, num_threads, chunk_largest);
  GradientMeasure result{0.0, first_non_finite(chunks, parts)};
  for (const double part : parts) {
    const bool is_nan = std::isnan(part) || std::isnan(result.value);
    result.value = is_nan ? std::numeric_limits<double>::quiet_NaN() : std::max(result.value, part);
  }
  return result;
}

}  // namespace slipway
