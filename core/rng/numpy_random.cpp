#include "core/rng/numpy_random.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace slipway {
namespace {

constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();

std::uint32_t checked_seed(std::uint64_t seed) {
  if (seed <= kMax32) return static_cast<std::uint32_t>(seed);
  throw ConfigError("seed " + std::to_string(seed) + " is not one of numpy's: allowed are 0 to " +
                    std::to_string(kMax32));
}

}  // namespace

NumpyRandom::NumpyRandom(std::uint64_t seed) : engine_(checked_seed(seed)) {}

std::uint64_t NumpyRandom::next_uint64() {
  const std::uint64_t high = next_uint32();
  return high << 32 | next_uint32();
}

double NumpyRandom::uniform() {
  const std::uint32_t high = next_uint32() >> 5;
  const std::uint32_t low = next_uint32() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

std::uint64_t NumpyRandom::bounded(std::uint64_t max) {
  if (max == 0) return 0;
  const std::uint64_t mask = std::numeric_limits<std::uint64_t>::max() >> std::countl_zero(max);
  std::uint64_t value = 0;
  do {
    value = (max <= kMax32 ? next_uint32() : next_uint64()) & mask;
  } while (value > max);
  return value;
}

std::int64_t NumpyRandom::randint(std::int64_t low, std::int64_t high) {
  SLW_CHECK(low < high);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) - 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bounded(range));
}

std::size_t NumpyRandom::choice(std::span<const double> weights) {
  std::vector<double> sums;
  double sum = 0.0;
  for (const double weight : weights) {
    SLW_CHECK(weight >= 0.0);
    sums.push_back(sum += weight);
  }
  SLW_CHECK(sum > 0.0);
  const double drawn = uniform();
  std::size_t index = 0;
  while (index + 1 < sums.size() && sums[index] / sum <= drawn) ++index;
  return index;
}

}  // namespace slipway
