// Runs as a user starts them: the launcher, real processes, files.
#include <signal.h>

#include <cmath>

#include "tests/e2e/train/train_command.h"
#include "tests/support/long.h"

namespace slipway {
namespace {

TEST_F(TrainCommand, LearnsATextFile) {
  train_well("a", {"--manifest",
                   manifest("devils_dictionary.json"),
                   "--data.paths",
                   text_file(40000),
                   "--num-layers",
                   "2",
                   "--hidden-size",
                   "48",
                   "--train-iters",
                   "30",
                   "--seq-length",
                   "64",
                   "--lr-warmup-iters",
                   "3",
                   "--lr",
                   "0.005",
                   "--eval-interval",
                   "15",
                   "--eval-iters",
                   "1"});
  const auto all = metrics_of(run("a"));
  ASSERT_EQ(all.size(), 33u);  // an evaluation at 15, at 30 and after training
  EXPECT_LT(all.back().at("valid_loss").get<double>(), all[15].at("valid_loss").get<double>());
  const std::vector<nlohmann::json> lines(all.begin(), all.end() - 2);
  EXPECT_NEAR(lines.front().at("loss").get<double>(), std::log(256.0), 0.7);
  EXPECT_LT(lines.back().at("loss").get<double>(), lines.front().at("loss").get<double>() - 1.5);
  for (const char* name : {"manifest.resolved.json", "log.txt", "checkpoints/latest"}) {
    EXPECT_TRUE(fs::exists(run("a") / name)) << name;
  }
}

TEST_F(TrainCommand, TwoRanksEqualOne) {
  train_well("one", tiny(1));
  train_well("two", tiny(2));
  const auto one = metrics_of(run("one")), two = metrics_of(run("two"));
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    for (const char* key : {"loss", "grad_norm"}) {
      const double a = one[i].at(key), b = two[i].at(key);
      EXPECT_NEAR(a, b, 1e-5 * a) << key << " of step " << i + 1;
    }
    EXPECT_EQ(one[i].at("lr"), two[i].at("lr"));
    EXPECT_EQ(one[i].at("consumed_samples"), two[i].at("consumed_samples"));
  }
}

TEST_F(TrainCommand, TheResolvedManifestRepeatsTheRun) {
  train_well("a", tiny());
  train_well("b", {"--manifest", (run("a") / "manifest.resolved.json").string()});
  EXPECT_EQ(metrics_of(run("a")), metrics_of(run("b")));
  EXPECT_EQ(tensors_of(run("a"), 12), tensors_of(run("b"), 12));
}

// Killed without warning at a step that is no multiple of the save interval, then resumed.
void kill_after(const fs::path& metrics, size_t steps, pid_t family) {
  if (lines_in(metrics) >= steps) kill(-family, SIGKILL);
}

class Resume : public TrainCommand, public testing::WithParamInterface<int> {};

TEST_P(Resume, EqualsTheStraightRunBitForBit) {
  const int ranks = GetParam();
  train_well("straight", tiny(ranks));
  for (const size_t step : rounds<std::vector<size_t>>({6}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})) {
    const std::string name = "stopped" + std::to_string(step);
    ProgramOptions killed;
    killed.watch = [&](pid_t pid) { kill_after(run(name) / "metrics.jsonl", step, pid); };
    const ProgramResult stopped = train(name, tiny(ranks), killed);
    ASSERT_NE(stopped.exit_code, 0) << stopped.out;
    std::vector<std::string> options = tiny(ranks);
    options.push_back("--resume");
    train_well(name, options);
    EXPECT_EQ(metrics_of(run("straight")), metrics_of(run(name))) << "killed after step " << step;
    EXPECT_EQ(tensors_of(run("straight"), 12), tensors_of(run(name), 12)) << "killed after step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Resume, testing::Values(1, 2));

TEST_F(TrainCommand, ResumesWithAnotherNumberOfRanks) {
  train_well("straight", tiny(1));
  std::vector<std::string> half = tiny(2);
  half[3] = "8";
  half.insert(half.end(), {"--lr-decay-iters", "12"});
  train_well("moved", half);
  std::vector<std::string> rest = tiny(1);
  rest.insert(rest.end(), {"--lr-decay-iters", "12", "--resume"});
  train_well("moved", rest);
  const auto a = metrics_of(run("straight")), b = metrics_of(run("moved"));
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i].at("loss").get<double>(), b[i].at("loss").get<double>(), 1e-5 * a[i].at("loss").get<double>());
  }
}

// The bigram learns that token t + 1 follows from token t; the copy task has nothing that a bigram could learn.
TEST_F(TrainCommand, ExamplesInPlainCTrainThroughPlugin) {
  const std::vector<std::string> common{"--plugin",
                                        built_plugin("bigram"),
                                        "--plugin",
                                        built_plugin("copy_task"),
                                        "--model",
                                        "bigram",
                                        "--optimizer",
                                        "adam",
                                        "--data-parallel",
                                        "ddp",
                                        "--train-iters",
                                        "40",
                                        "--seq-length",
                                        "32",
                                        "--global-batch-size",
                                        "8",
                                        "--micro-batch-size",
                                        "4",
                                        "--lr",
                                        "0.05"};
  std::vector<std::string> mock = common, copy = common;
  mock.insert(mock.end(), {"--data", "mock"});
  copy.insert(copy.end(), {"--data", "copy_task"});
  train_well("mock", mock);
  train_well("copy", copy);
  const auto learned = metrics_of(run("mock")), copied = metrics_of(run("copy"));
  EXPECT_LT(learned.back().at("loss").get<double>(), learned.front().at("loss").get<double>() - 0.5);
  EXPECT_NEAR(copied.back().at("loss").get<double>(), std::log(64.0), 0.2);
}

TEST_F(TrainCommand, RunsUnderAnotherLauncher) {
  const ProgramResult result =
      train("r", {"--manifest", manifest("tiny.json"), "--train-iters", "3"},
            {.folder = "", .environment = {"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"}, .watch = {}});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(metrics_of(run("r")).size(), 3u);
}

}  // namespace
}  // namespace slipway
