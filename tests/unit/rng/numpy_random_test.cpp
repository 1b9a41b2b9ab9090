#include "core/rng/numpy_random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "tests/support/golden_values.h"

namespace slipway {
namespace {

template <class T>
std::vector<T> shuffled_range(NumpyRandom& random, std::size_t count) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), T{0});
  random.shuffle(std::span(values));
  return values;
}

// Calls `draw` as often as the golden tensor has elements and compares.
template <class T, class Draw>
void expect_draws(const SafetensorsReader& golden, const std::string& name, Draw draw) {
  for (const T expected : golden.load_as<T>(name)) EXPECT_EQ(static_cast<T>(draw()), expected) << name;
}

// The calls were made on one generator in this order; that the last words agree shows that none is missing.
TEST(NumpyRandom, GoldenCallsInOrder) {
  const SafetensorsReader golden(golden::folder() / "data" / "numpy_randomstate.safetensors");
  NumpyRandom random(1234);
  expect_draws<double>(golden, "random_sample_8", [&] { return random.uniform(); });
  EXPECT_EQ(shuffled_range<std::int32_t>(random, 23), golden.load_as<std::int32_t>("then_shuffle_arange23_int32"));
  expect_draws<std::int64_t>(golden, "then_randint_0_1000_x8", [&] { return random.randint(0, 1000); });
  expect_draws<std::int64_t>(golden, "then_randint_low1_high5_x8", [&] { return random.randint(1, 5); });
  const std::vector<double> weights = {0.5, 0.3, 0.2};
  expect_draws<std::int64_t>(golden, "then_choice_1_2_3_p_x12", [&] { return random.choice(weights) + 1; });
  EXPECT_EQ(shuffled_range<std::int64_t>(random, 17), golden.load_as<std::int64_t>("then_shuffle_list17"));
  EXPECT_EQ(shuffled_range<std::uint32_t>(random, 1000),
            golden.load_as<std::uint32_t>("then_shuffle_arange1000_uint32"));
  expect_draws<std::uint32_t>(golden, "then_uint32_tail", [&] { return random.next_uint32(); });
  EXPECT_EQ(golden.entries().size(), 8U);
}

// numpy 2.4: RandomState(1234).randint with these limits, in this order.
TEST(NumpyRandom, RangesBeyond32Bits) {
  NumpyRandom random(1234);
  for (const std::int64_t expected : {204000912083, 166721346613, 878802328948, 656147994617}) {
    EXPECT_EQ(random.randint(0, std::int64_t{1} << 40), expected);
  }
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(random.randint(kMin, kMax), 5164642029029087921);
  EXPECT_EQ(random.randint(0, std::int64_t{1} << 32), 1170776343);
  EXPECT_EQ(random.randint(0, (std::int64_t{1} << 32) + 1), 3444014763);
}

TEST(NumpyRandom, ReferenceShufflesAndDraws) {
  NumpyRandom random(1234);
  EXPECT_EQ(shuffled_range<std::int64_t>(random, 10), (std::vector<std::int64_t>{7, 2, 9, 1, 0, 8, 4, 5, 6, 3}));
  std::vector<std::int32_t> thousand = shuffled_range<std::int32_t>(random, 1000);
  thousand.resize(8);
  EXPECT_EQ(thousand, (std::vector<std::int32_t>{815, 496, 322, 623, 473, 765, 658, 89}));
  EXPECT_EQ(random.uniform(), .7218605963086927);
  EXPECT_EQ(random.randint(1, 5), 2);
}

TEST(NumpyRandom, AOneElementRangeDrawsNothing) {
  NumpyRandom random(7);
  NumpyRandom same = random;
  EXPECT_EQ(random.randint(3, 4), 3);
  EXPECT_EQ(random.bounded(0), 0U);
  shuffled_range<int>(random, 1);
  shuffled_range<int>(random, 0);
  EXPECT_EQ(random.next_uint32(), same.next_uint32());
}

TEST(NumpyRandom, SeedsBeyondNumpysAreRefused) {
  EXPECT_NO_THROW(NumpyRandom(4294967295U));
  EXPECT_THROW(NumpyRandom(4294967296U), ConfigError);
}

}  // namespace
}  // namespace slipway
