// Law 1: the numbers of a run do not depend on the layout. Dropout is on, the vocabulary is padded.
#include "tests/dist/layouts.h"
#include "tests/support/long.h"
#include "tests/support/training_run.h"

namespace slipway {
namespace {

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

// ---- layouts that cut the model -------------------------------------------------------------------------------------

struct ModelLayout {
  const char* name;
  int world;
  Options options;
};

void PrintTo(const ModelLayout& layout, std::ostream* out) { *out << layout.name; }

class ModelParallel : public testing::TestWithParam<ModelLayout> {};

TEST_P(ModelParallel, EqualsOneRank) {
  static const TrainingRun one = run_training(four_layers(), 1);
  expect_same_numbers(one, run_training(four_layers(), GetParam().world, GetParam().options));
}

INSTANTIATE_TEST_SUITE_P(
    Gpt, ModelParallel,
    testing::Values(ModelLayout{"tp2", 2, sizes(2, 1)}, ModelLayout{"tp4", 4, sizes(4, 1)},
                    ModelLayout{"tp2sp", 2, sizes(2, 1) + kSequenceParallel}, ModelLayout{"pp2", 2, sizes(1, 2)},
                    ModelLayout{"pp4", 4, sizes(1, 4)}, ModelLayout{"pp2vpp2", 2, sizes(1, 2, 2)},
                    ModelLayout{"tp2pp2", 4, sizes(2, 2)}, ModelLayout{"pp2dp2", 4, sizes(1, 2)},
                    ModelLayout{"tp2dp2distopt", 4, sizes(2, 1) + kDistOpt},
                    ModelLayout{"pp2dp2distopt", 4, sizes(1, 2) + kDistOpt},
                    ModelLayout{"tp2sppp2vpp2dp2distopt", 8, sizes(2, 2, 2) + kDistOpt + kSequenceParallel}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace slipway
