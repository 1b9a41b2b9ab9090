// Made-up run folders, judged.
#include "launcher/verify/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

struct MadeUpRun {
  std::string weight_name = "w";
  std::vector<double> losses{5.0, 4.0}, norms{1.0, 2.0};
  std::vector<float> initial{1.0f, 2.0f, 3.0f}, final{1.5f, 2.5f, -30.0f}, key_bias{0.0f, 0.0f, 0.0f};
};

class Judge : public testing::Test {
 protected:
  fs::path write(const std::string& name, const MadeUpRun& run) {
    const fs::path folder = folder_.path() / name;
    fs::create_directories(folder);
    std::ofstream file(folder / "metrics.jsonl");
    file.precision(17);
    for (size_t s = 0; s < run.losses.size(); ++s) {
      file << "{\"step\":" << s + 1 << ",\"loss\":" << number(run.losses[s])
           << ",\"grad_norm\":" << number(run.norms[s]) << ",\"lr\":0.01}\n";
    }
    save(folder, 0, run.initial, run);
    save(folder, 2, run.final, run);
    return folder;
  }
  Comparison compare(const MadeUpRun& other) {
    return compare_runs(write("reference", {}), write("other" + std::to_string(count_++), other), 2);
  }

 private:
  static std::string number(double value) { return std::isfinite(value) ? std::to_string(value) + "0" : "null"; }

  static void save(const fs::path& run, int64_t step, const std::vector<float>& weights, const MadeUpRun& what) {
    const fs::path root = run / "checkpoints";
    const fs::path temporary = begin_save(root, step);
    const Shape shape{3};
    const auto piece = [&](const std::string& name, const std::vector<float>& values) {
      return Piece{name, DType::kF32, shape, whole_cut(shape), std::as_bytes(std::span<const float>(values))};
    };
    const std::vector<float> state{9.0f, 9.0f, static_cast<float>(run.string().size())};
    const std::vector<float> nothing(3), &key_bias = step == 0 ? nothing : what.key_bias;
    const std::vector<Piece> pieces{piece(what.weight_name, weights), piece("a.linear_qkv.bias", key_bias),
                                    piece("optimizer.exp_avg." + what.weight_name, state)};
    const ShardDescription shard = write_shard(temporary, 0, pieces);
    commit_checkpoint(root, step, {&shard, 1}, "{}");
  }

  TempFolder folder_;
  int count_ = 0;
};

TEST_F(Judge, AcceptsEqualRunsWhateverTheOptimizerState) {
  const Comparison equal = compare({});
  EXPECT_TRUE(equal.passed()) << equal.failures.front();
  EXPECT_EQ(equal.loss, 0);
  EXPECT_EQ(equal.weight, 0);
  EXPECT_TRUE(equal.equal_start);
}

TEST_F(Judge, ToleratesRounding) {
  MadeUpRun run;
  run.losses[1] = 4.00003;
  run.norms[0] = 1.000009;
  run.final[0] = 1.5f + 2e-4f;  // within 1e-5 x 30, the largest of the tensor
  run.key_bias[0] = 0.0009f;    // within 0.05 x (0.01 + 0.01)
  const Comparison comparison = compare(run);
  EXPECT_TRUE(comparison.passed()) << comparison.failures.front();
  EXPECT_NEAR(comparison.loss, 3e-5, 1e-9);
  EXPECT_NEAR(comparison.weight, 2e-4, 1e-6);
}

TEST_F(Judge, NamesStepsAndNumbersOfLossAndNorm) {
  MadeUpRun run;
  run.losses[1] = 4.0001;
  EXPECT_THAT(compare(run).failures, ElementsAre(HasSubstr("the loss of step 2 is 4.0001, the reference has 4")));
  run = {};
  run.norms[0] = 0.9;
  EXPECT_THAT(compare(run).failures, ElementsAre(HasSubstr("the gradient norm of step 1 is 0.9")));
}

TEST_F(Judge, NamesTheWeight) {
  MadeUpRun run;
  run.final[1] = 2.6f;
  EXPECT_THAT(compare(run).failures, ElementsAre(HasSubstr("weight 1 of w differs by 0.09999")));
  run = {};
  run.key_bias[2] = 0.002f;
  EXPECT_THAT(compare(run).failures, ElementsAre(HasSubstr("weight 2 of a.linear_qkv.bias")));
}

TEST_F(Judge, WantsEqualBitsAtTheStart) {
  MadeUpRun run;
  run.initial[0] = std::nextafter(1.0f, 2.0f);
  const Comparison comparison = compare(run);
  EXPECT_FALSE(comparison.equal_start);
  EXPECT_THAT(comparison.failures, ElementsAre(HasSubstr("initial weights of w")));
}

TEST_F(Judge, ANumberThatIsNoneIsADifference) {
  MadeUpRun run;
  run.losses[0] = std::nan("");
  EXPECT_FALSE(compare(run).passed());
  run = {};
  run.final[0] = std::nanf("");
  EXPECT_FALSE(compare(run).passed());
}

TEST_F(Judge, TellsTheWorstOfManySteps) {
  MadeUpRun run;
  run.losses = {5.001, 4.1};
  EXPECT_THAT(compare(run).failures,
              ElementsAre(AllOf(HasSubstr("the loss of step 2"), HasSubstr("worst of 2 steps, the first is 1"))));
}

TEST_F(Judge, EachKindHasALineOfItsOwn) {
  MadeUpRun run;
  run.losses[0] = 6;
  run.norms[1] = 3;
  run.initial[1] = 2.5f;
  run.final[0] = 1.6f;
  EXPECT_THAT(compare(run).failures,
              ElementsAre(HasSubstr("the loss of step 1"), HasSubstr("the gradient norm of step 2"),
                          HasSubstr("initial weights of w"), HasSubstr("weight 0 of w")));
}

TEST_F(Judge, BothWantTheSameParameters) {
  MadeUpRun run;
  run.weight_name = "v";
  const Comparison comparison = compare(run);
  ASSERT_EQ(comparison.failures.size(), 2u);  // of step 0, and of the last
  for (const std::string& failure : comparison.failures) {
    EXPECT_THAT(failure, AllOf(HasSubstr("wanted, but not stored (1):\n    w"),
                               HasSubstr("stored, but not wanted (1):\n    v")));
    EXPECT_THAT(failure, testing::Not(HasSubstr("optimizer.")));
  }
  EXPECT_FALSE(comparison.equal_start);
}

TEST_F(Judge, SaysWhenTheManifestTrainsFewerSteps) {
  const fs::path run = write("short", {});
  EXPECT_THROW(compare_runs(run, run, 3), ConfigError);
}

TEST_F(Judge, RefusesAnUnfinishedRun) {
  MadeUpRun run;
  run.losses.pop_back();
  run.norms.pop_back();
  EXPECT_THROW(compare(run), DataError);
}

}  // namespace
}  // namespace slipway
