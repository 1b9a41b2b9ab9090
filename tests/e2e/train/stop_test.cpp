// Runs that end before their last step: by a signal, after a time, at an interval. What they saved goes on bit for bit.
#include <signal.h>

#include "tests/e2e/train/train_command.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

using testing::HasSubstr;

std::vector<std::string> with(std::vector<std::string> options, const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

class StopCommand : public TrainCommand {
 protected:
  // 40 tiny steps with evaluations, and no checkpoint that was not asked for.
  static std::vector<std::string> steps(const std::string& number, int ranks) {
    return {"--manifest",       manifest("tiny.json"),
            "--train-iters",    number,
            "--cpu-threads",    "1",
            "--eval-iters",     "2",
            "--eval-interval",  "7",
            "--nproc-per-node", std::to_string(ranks)};
  }
  static std::vector<std::string> forty(int ranks) { return steps("40", ranks); }

  // Sends `signal` once, to the process or (negative) its family, after so many lines of metrics.
  ProgramResult stop(const std::string& output, int ranks, int signal, size_t lines) {
    bool is_sent = false;
    ProgramOptions how;
    how.watch = [&](pid_t pid) {
      if (is_sent || lines_in(run(output) / "metrics.jsonl") < lines) return;
      is_sent = true;
      kill(pid, signal);
    };
    return train(output, forty(ranks), how);
  }
};

class StopBySignal : public StopCommand, public testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(StopBySignal, SavesAndGoesOnBitForBit) {
  const auto [ranks, signal] = GetParam();
  train_well("straight", forty(ranks));
  const ProgramResult stopped = stop("stopped", ranks, signal, 9);
  EXPECT_EQ(stopped.exit_code, 20) << stopped.out;
  EXPECT_THAT(stopped.out, HasSubstr("stopped by a signal after"));
  const size_t done = metrics_of(run("stopped")).size();
  EXPECT_GE(done, 9u);
  EXPECT_LT(done, metrics_of(run("straight")).size());
  train_well("stopped", with(forty(ranks), {"--resume"}));
  EXPECT_EQ(metrics_of(run("straight")), metrics_of(run("stopped")));
  EXPECT_EQ(tensors_of(run("straight"), 40), tensors_of(run("stopped"), 40));
}

INSTANTIATE_TEST_SUITE_P(Signals, StopBySignal,
                         testing::Values(std::pair(1, SIGTERM), std::pair(2, SIGTERM), std::pair(2, SIGINT)));

// A stop does not wait for an evaluation; the resumed run makes up for it.
TEST_F(StopCommand, AnEvaluationThatWasCutShortIsDoneAgain) {
  const std::vector<std::string> options{"--manifest",      manifest("tiny.json"),
                                         "--train-iters",   "8",
                                         "--cpu-threads",   "1",
                                         "--eval-iters",    "150",
                                         "--eval-interval", "3"};
  train_well("straight", options);
  bool is_sent = false;
  ProgramOptions how;
  how.watch = [&](pid_t pid) {
    if (is_sent || lines_in(run("stopped") / "metrics.jsonl") < 3) return;
    is_sent = true;
    kill(pid, SIGTERM);
  };
  const ProgramResult stopped = train("stopped", options, how);
  EXPECT_EQ(stopped.exit_code, 20) << stopped.out;
  EXPECT_EQ(metrics_of(run("stopped")).size(), 3u);
  train_well("stopped", with(options, {"--resume"}));
  EXPECT_EQ(metrics_of(run("straight")), metrics_of(run("stopped")));
}

// The ranks agree: a signal that only one of them gets stops all after the same step.
TEST_F(StopCommand, ASignalToOneRankStopsAll) {
  pid_t rank = 0;
  ProgramOptions how;
  how.watch = [&](pid_t pid) {
    if (rank != 0 || lines_in(run("a") / "metrics.jsonl") < 3) return;
    std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
    pid_t first = 0;
    children >> first >> rank;  // the second child is rank 1
    kill(rank, SIGTERM);
  };
  const ProgramResult result = train("a", forty(2), how);
  EXPECT_EQ(result.exit_code, 20) << result.out;
  EXPECT_NE(rank, 0);
}

// Whether the process is a worker that has begun to watch for SIGTERM.
bool watches_signals(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string name;
  std::getline(std::ifstream(folder + "/comm") >> std::ws, name);
  if (name != "slipway-worker") return false;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk:")) return (std::stoull(line.substr(7), nullptr, 16) >> (SIGTERM - 1) & 1) != 0;
  }
  return false;
}

// One of two ranks, so that it waits for the other in step 1.
TEST_F(StopCommand, BeforeTrainingASignalEndsTheRunAtOnce) {
  ProgramOptions how;
  how.environment = {"RANK=0", "WORLD_SIZE=2", "LOCAL_RANK=0", "MASTER_ADDR=127.0.0.1",
                     "MASTER_PORT=" + std::to_string(free_port())};
  how.watch = [](pid_t pid) {
    if (watches_signals(pid)) kill(pid, SIGTERM);
  };
  const ProgramResult result = train("a", {"--manifest", manifest("tiny.json")}, how);
  EXPECT_EQ(result.exit_code, 20) << result.out;
  EXPECT_FALSE(fs::exists(run("a")));
}

TEST_F(StopCommand, ExitIntervalSavesOnceAndEnds) {
  const ProgramResult result = train("a", with(forty(1), {"--exit-interval", "6", "--save-interval", "6"}));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_EQ(metrics_of(run("a")).size(), 6u);  // nothing is evaluated at the end of a part
  EXPECT_THAT(result.out, HasSubstr("exit_interval is reached after 6 steps"));
  const size_t first = result.out.find("saved checkpoint");
  EXPECT_EQ(result.out.find("saved checkpoint", first + 1), std::string::npos) << result.out;
}

TEST_F(StopCommand, ExitDurationEndsAfterTheStepInWhichItIsOver) {
  const ProgramResult result = train("a", with(steps("1000000", 2), {"--exit-duration-in-mins", "0.03"}));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("exit_duration_in_mins is over after"));
  EXPECT_TRUE(fs::exists(run("a") / "checkpoints" / "latest"));
}

}  // namespace
}  // namespace slipway
