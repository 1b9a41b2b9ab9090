// numpy.random.RandomState, bit for bit, as far as sample orders need it: the Mersenne Twister with numpy's own ways
// from its words to numbers (the standard library's distributions and shuffle differ between implementations).
// One owner; the state is the whole object, so a copy continues alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <utility>

namespace slipway {

class NumpyRandom {
 public:
  // As RandomState(seed). A seed of 2^32 or more is a ConfigError, as numpy refuses it.
  explicit NumpyRandom(std::uint64_t seed);

  std::uint32_t next_uint32() { return static_cast<std::uint32_t>(engine_()); }

  // random(): [0, 1) with 53 bits.
  double uniform();

  // A number of 0 to `max`, `max` included, by masked rejection. 0 draws nothing.
  std::uint64_t bounded(std::uint64_t max);

  // randint(low, high): `high` excluded. REQUIRES: low < high.
  std::int64_t randint(std::int64_t low, std::int64_t high);

  // choice(n, p=weights): an index, by the weights' running sum. REQUIRES: no weight negative, their sum positive.
  std::size_t choice(std::span<const double> weights);

  // shuffle(list or array). Any length; from 2^32 on 64-bit draws are used, as numpy does.
  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i-- > 1;) std::swap(values[i], values[bounded(i)]);
  }

 private:
  std::uint64_t next_uint64();

  std::mt19937 engine_;
};

}  // namespace slipway
