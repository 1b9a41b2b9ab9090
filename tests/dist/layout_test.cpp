// Law 1: the numbers of a run do not depend on the layout. Dropout is on, the vocabulary is padded.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/long.h"
#include "tests/support/training_run.h"

namespace slipway {
namespace {

constexpr double kTolerance = 1e-5;

// Adam turns rounding noise of linear_qkv.bias, whose key part has no true gradient, into steps of size lr.
void ignore_keyless_bias(Weights& weights) {
  std::erase_if(weights, [](const auto& item) { return item.first.ends_with("linear_qkv.bias"); });
}

void expect_same_numbers(TrainingRun a, TrainingRun b) {
  EXPECT_EQ(a.initial, b.initial);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t s = 0; s < a.steps.size(); ++s) {
    EXPECT_NEAR(a.steps[s].loss, b.steps[s].loss, kTolerance * a.steps[s].loss) << "step " << s + 1;
    EXPECT_NEAR(a.steps[s].grad_norm, b.steps[s].grad_norm, kTolerance * a.steps[s].grad_norm) << "step " << s + 1;
    EXPECT_EQ(a.steps[s].learning_rate, b.steps[s].learning_rate);
  }
  ignore_keyless_bias(a.final);
  ignore_keyless_bias(b.final);
  EXPECT_LE(largest_difference(a.final, b.final), kTolerance);
}

class Layout : public testing::TestWithParam<const char*> {
 protected:
  nlohmann::json manifest() const {
    return std::string(GetParam()) == "gpt" ? small_gpt_manifest() : small_bigram_manifest();
  }
};

TEST_P(Layout, DataParallelTwoAndFourEqualOne) {
  const TrainingRun one = run_training(manifest(), 1);
  EXPECT_LT(one.steps.back().loss, one.steps.front().loss);
  expect_same_numbers(one, run_training(manifest(), 2));
  expect_same_numbers(one, run_training(manifest(), 4));
}

TEST_P(Layout, MicroBatchSizeChangesNothing) {
  const TrainingRun one = run_training(manifest(), 1);
  expect_same_numbers(one, run_training(manifest(), 1, {"--micro-batch-size", "2"}));
  expect_same_numbers(one, run_training(manifest(), 2, {"--micro-batch-size", "4"}));
}

TEST_P(Layout, EveryCutOfTheBatchGivesTheSameNumbers) {
  const TrainingRun one = run_training(manifest(), 1);
  for (const int world : rounds<std::vector<int>>({2}, {1, 2, 4, 8})) {
    for (const int micro : rounds<std::vector<int>>({2}, {1, 2, 4, 8})) {
      if (world * micro > 8) continue;
      SCOPED_TRACE("data parallel " + std::to_string(world) + ", micro batch " + std::to_string(micro));
      expect_same_numbers(one, run_training(manifest(), world, {"--micro-batch-size", std::to_string(micro)}));
    }
  }
}

TEST_P(Layout, VocabularyPaddingChangesNothing) {
  const TrainingRun padded = run_training(manifest(), 1);
  expect_same_numbers(padded, run_training(manifest(), 1, {"--make-vocab-size-divisible-by", "1"}));
  expect_same_numbers(padded, run_training(manifest(), 1, {"--make-vocab-size-divisible-by", "512"}));
}

TEST_P(Layout, OverlappedReductionIsBitEqual) {
  const TrainingRun plain = run_training(manifest(), 2, {"--no-overlap-grad-reduce"});
  const TrainingRun overlapped = run_training(manifest(), 2, {"--overlap-grad-reduce"});
  EXPECT_EQ(plain.final, overlapped.final);
}

TEST_P(Layout, TwoRunsAreBitEqual) {
  const TrainingRun a = run_training(manifest(), 2), b = run_training(manifest(), 2);
  EXPECT_EQ(a.final, b.final);
  for (size_t s = 0; s < a.steps.size(); ++s) EXPECT_EQ(a.steps[s].loss, b.steps[s].loss);
}

TEST_P(Layout, MicrobatchNormalisationIsInvariantToo) {
  const std::vector<std::string> options{"--loss-normalization", "microbatch"};
  expect_same_numbers(run_training(manifest(), 1, options), run_training(manifest(), 2, options));
}

INSTANTIATE_TEST_SUITE_P(Model, Layout, testing::Values("bigram", "gpt"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace slipway
