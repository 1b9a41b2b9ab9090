#include "core/generate/sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/base/error.h"

namespace slipway {
namespace {

// Probabilities 0.1, 0.4, 0.3, 0.2.
const std::vector<float> kLogits{std::log(0.1f), std::log(0.4f), std::log(0.3f), std::log(0.2f)};

Sampling with(double temperature, int64_t top_k, double top_p) { return {temperature, top_k, top_p}; }

TEST(PickToken, GoesThroughTokensFromTheLikeliestOn) {
  const Sampling all = with(1, 0, 1);
  EXPECT_EQ(pick_token(kLogits, all, 0.01), 1);
  EXPECT_EQ(pick_token(kLogits, all, 0.39), 1);
  EXPECT_EQ(pick_token(kLogits, all, 0.41), 2);
  EXPECT_EQ(pick_token(kLogits, all, 0.71), 3);
  EXPECT_EQ(pick_token(kLogits, all, 0.91), 0);
  EXPECT_EQ(pick_token(kLogits, all, std::nextafter(1.0, 0.0)), 0);
}

TEST(PickToken, TemperatureSharpensAndZeroTakesTheLikeliest) {
  EXPECT_EQ(pick_token(kLogits, with(0, 0, 1), 0.999), 1);
  const std::vector<float> equal{1, 5, 5};
  EXPECT_EQ(pick_token(equal, with(0, 0, 1), 0.999), 1);  // the lower of two
  // At temperature 1/2 the probabilities are squares: 0.16 of 0.30 is the likeliest's.
  EXPECT_EQ(pick_token(kLogits, with(0.5, 0, 1), 0.53), 1);
  EXPECT_EQ(pick_token(kLogits, with(0.5, 0, 1), 0.54), 2);
}

TEST(PickToken, TopKLeavesTheKLikeliest) {
  // 0.4 and 0.3, taken anew: 4/7 and 3/7.
  EXPECT_EQ(pick_token(kLogits, with(1, 2, 1), 0.57), 1);
  EXPECT_EQ(pick_token(kLogits, with(1, 2, 1), 0.58), 2);
  EXPECT_EQ(pick_token(kLogits, with(1, 2, 1), 0.9999), 2);
  EXPECT_EQ(pick_token(kLogits, with(1, 99, 1), 0.91), 0);
}

TEST(PickToken, TopPKeepsTheTokenThatCrosses) {
  EXPECT_EQ(pick_token(kLogits, with(1, 0, 0.35), 0.9999), 1);
  EXPECT_EQ(pick_token(kLogits, with(1, 0, 0.5), 0.9999), 2);  // 0.4 does not reach it, 0.3 crosses
  EXPECT_EQ(pick_token(kLogits, with(1, 0, 0.75), 0.9999), 3);
  EXPECT_EQ(pick_token(kLogits, with(1, 2, 0.5), 0.9999), 1);  // after top_k: 4/7 reaches it
}

TEST(PickToken, MasksAndExtremesAreNoTrouble) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const std::vector<float> logits{kNever, 1e30f, kNever, -1e30f};
  for (const double uniform : {1e-9, 0.5, 1 - 1e-9}) EXPECT_EQ(pick_token(logits, with(1, 0, 1), uniform), 1);
}

TEST(PickToken, DrawsAsOftenAsTheProbabilitiesSay) {
  std::vector<int> counts(4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    counts[static_cast<size_t>(pick_token(kLogits, with(1, 0, 1), sampling_uniform(7, i % 3, i)))] += 1;
  }
  const double expected[] = {0.1, 0.4, 0.3, 0.2};
  for (size_t t = 0; t < 4; ++t) EXPECT_NEAR(counts[t] / double{kDraws}, expected[t], 0.012);
}

TEST(SamplingUniform, DependsOnSeedSampleAndPosition) {
  const double u = sampling_uniform(1, 2, 3);
  EXPECT_EQ(u, sampling_uniform(1, 2, 3));
  for (const double other : {sampling_uniform(2, 2, 3), sampling_uniform(1, 3, 3), sampling_uniform(1, 2, 4)}) {
    EXPECT_NE(u, other);
  }
  EXPECT_GT(u, 0);
  EXPECT_LT(u, 1);
}

TEST(CheckSampling, RefusesWhatMeansNothing) {
  EXPECT_NO_THROW(check_sampling(with(0, 0, 1)));
  EXPECT_THROW(check_sampling(with(-1, 0, 1)), ConfigError);
  EXPECT_THROW(check_sampling(with(std::nan(""), 0, 1)), ConfigError);
  EXPECT_THROW(check_sampling(with(1, -1, 1)), ConfigError);
  EXPECT_THROW(check_sampling(with(1, 0, 0)), ConfigError);
  EXPECT_THROW(check_sampling(with(1, 0, 1.5)), ConfigError);
}

}  // namespace
}  // namespace slipway
