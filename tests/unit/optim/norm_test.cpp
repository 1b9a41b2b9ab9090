#include "core/optim/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace slipway {
namespace {

std::vector<std::vector<float>> random_gradients(const std::vector<std::size_t>& sizes) {
  std::mt19937 generator(7);
  std::normal_distribution<float> draw(0.0f, 0.01f);
  std::vector<std::vector<float>> gradients;
  for (const std::size_t size : sizes) {
    gradients.emplace_back(size);
    for (float& value : gradients.back()) value = draw(generator);
  }
  return gradients;
}

std::vector<std::span<const float>> spans_of(const std::vector<std::vector<float>>& gradients) {
  return {gradients.begin(), gradients.end()};
}

TEST(Norm, SumsSquaresInDoublePrecision) {
  const auto gradients = random_gradients({1, 15, 16, 17, 16384, 16385, 100'003, 0, 3});
  long double expected = 0;
  for (const auto& gradient : gradients) {
    for (const float value : gradient) expected += static_cast<long double>(value) * value;
  }
  const GradientMeasure measure = sum_of_squares(spans_of(gradients), 1);
  EXPECT_NEAR(measure.value, static_cast<double>(expected), 1e-13 * static_cast<double>(expected));
  EXPECT_FALSE(measure.non_finite_span);
}

TEST(Norm, ThreadsDoNotChangeBits) {
  const auto gradients = random_gradients({5, 250'000, 16384, 40'000, 1});
  const auto spans = spans_of(gradients);
  const double expected = sum_of_squares(spans, 1).value;
  for (const int threads : {0, 2, 3, 4, 8}) {
    EXPECT_EQ(sum_of_squares(spans, threads).value, expected) << threads;
    EXPECT_EQ(largest_magnitude(spans, threads).value, largest_magnitude(spans, 1).value) << threads;
  }
}

TEST(Norm, AlignmentDoesNotChangeBits) {
  const auto gradients = random_gradients({40'000});
  std::vector<float> shifted{0.0f};
  shifted.insert(shifted.end(), gradients[0].begin(), gradients[0].end());
  const std::vector<std::span<const float>> spans{std::span<const float>(shifted).subspan(1)};
  EXPECT_EQ(sum_of_squares(spans, 1).value, sum_of_squares(spans_of(gradients), 1).value);
}

TEST(Norm, FindsTheLargestMagnitude) {
  const std::vector<std::vector<float>> gradients{{0.5f, -3.25f}, {}, {3.0f, -0.0f}};
  const GradientMeasure measure = largest_magnitude(spans_of(gradients), 2);
  EXPECT_EQ(measure.value, 3.25);
  EXPECT_FALSE(measure.non_finite_span);
}

TEST(Norm, NothingHasNormZero) {
  EXPECT_EQ(sum_of_squares({}, 2).value, 0.0);
  EXPECT_EQ(largest_magnitude({}, 2).value, 0.0);
}

TEST(Norm, NamesTheFirstSpanThatIsNotFinite) {
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    auto gradients = random_gradients({10, 50'000, 50'000, 10});
    gradients[2][20'000] = bad;
    gradients[3][0] = bad;
    for (const int threads : {1, 2}) {
      for (const auto& measure :
           {sum_of_squares(spans_of(gradients), threads), largest_magnitude(spans_of(gradients), threads)}) {
        EXPECT_FALSE(std::isfinite(measure.value));
        ASSERT_TRUE(measure.non_finite_span);
        EXPECT_EQ(*measure.non_finite_span, 2u);
      }
    }
  }
}

TEST(Norm, NanWinsOverInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> gradients{{infinity}, {std::nanf("")}, {infinity}};
  EXPECT_TRUE(std::isnan(largest_magnitude(spans_of(gradients), 1).value));
}

TEST(Norm, LargeFiniteGradientsStayFinite) {
  const std::vector<std::vector<float>> gradients{
      {std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}};
  const GradientMeasure measure = sum_of_squares(spans_of(gradients), 1);
  EXPECT_TRUE(std::isfinite(measure.value));
  EXPECT_FALSE(measure.non_finite_span);
}

}  // namespace
}  // namespace slipway
