// One of two ranks is killed, stopped, hangs or fails in the middle of training: the run ends within its timeout and
// ten seconds, and its message names the rank, the step, and where the other one waits.
#include <signal.h>

#include <future>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "tests/e2e/train/train_command.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kTimeout{6};
constexpr std::chrono::seconds kAllowed = kTimeout + std::chrono::seconds(10);
constexpr const char* kWaits =
    "\n  rank 0 waits in [a-z_]+ #[0-9]+ of group [a-z_]+ .ranks 0, 1; [0-9]+ bytes. since [0-9.]+ s";

class Failure : public TrainCommand {
 protected:
  static std::vector<std::string> long_run() {
    return {"--train-iters", "1000000", "--cpu-threads", "1", "--distributed-timeout-minutes", "0.1"};
  }
  ProgramResult train_long(std::vector<std::string> options, const ProgramOptions& how) {
    const std::vector<std::string> more = long_run();
    options.insert(options.end(), more.begin(), more.end());
    return train("a", options, how);
  }

  // Sends `signal` to rank 1 after some steps; the time that the run then takes is left in `since_signal_`.
  ProgramResult signal_rank_1(int signal) {
    Clock::time_point sent{};
    ProgramOptions how;
    how.watch = [&](pid_t pid) {
      if (sent != Clock::time_point{} || lines_in(run("a") / "metrics.jsonl") < 3) return;
      std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
      pid_t first = 0, rank = 0;
      children >> first >> rank;  // the second child is rank 1
      ::kill(rank, signal);
      sent = Clock::now();
    };
    const ProgramResult result = train_long({"--manifest", manifest("tiny.json"), "--nproc-per-node", "2"}, how);
    since_signal_ = Clock::now() - sent;
    return result;
  }

  // tiny.json with the model and the backend of tests/plugin/bad/faulty.cpp, which fail in step 3 of rank 1.
  std::string faulty_manifest(const std::string& model, const std::string& dp) const {
    nlohmann::json json = nlohmann::json::parse(read_file(manifest("tiny.json"), ExitCode::kUsage));
    json["model"] = {{"use", "faulty"}, {"model_fails_in", model}, {"vocab_size", 250}};
    json["data_parallel"] = {{"use", "faulty_dp"}, {"dp_fails_in", dp}};
    json["plugins"] = {toy_plugin("faulty")};
    const std::string path = (folder_.path() / "faulty.json").string();
    std::ofstream(path) << json;
    return path;
  }
  ProgramResult break_in(const std::string& model, const std::string& dp) {
    const Clock::time_point begin = Clock::now();
    const ProgramResult result = train_long({"--manifest", faulty_manifest(model, dp), "--nproc-per-node", "2"}, {});
    since_signal_ = Clock::now() - begin;
    return result;
  }

  Clock::duration since_signal_{};
};

TEST_F(Failure, AKilledRankIsNamedWithItsStep) {
  const ProgramResult result = signal_rank_1(SIGKILL);
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_LT(since_signal_, kAllowed);
  EXPECT_THAT(result.out, AllOf(ContainsRegex("rank 1 was killed by SIGKILL .Killed. during step [0-9]+; "),
                                ContainsRegex(std::string(kWaits) + "; rank 1 never arrived\n")));
}

TEST_F(Failure, AStoppedRankIsTheCauseAndNotTheOnesTimeout) {
  const ProgramResult result = signal_rank_1(SIGSTOP);
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_LT(since_signal_, kAllowed);
  EXPECT_THAT(result.out, AllOf(ContainsRegex("slipway: rank 1 never arrived: it did not answer .stopped or hanging. "
                                              "and was killed during step [0-9]+\n"),
                                ContainsRegex(std::string(kWaits) + "; rank 1 never arrived\n")));
}

TEST_F(Failure, AHangingRankTellsWhereItHangs) {
  const ProgramResult result = break_in("hang", "nowhere");
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_LT(since_signal_, kAllowed + std::chrono::seconds(3));  // with the start
  EXPECT_THAT(result.out, AllOf(HasSubstr("slipway: rank 1 never arrived: it was in step 3 forward, did not end when "
                                          "asked to and was killed\n"),
                                ContainsRegex(std::string(kWaits) + "; rank 1 never arrived\n")));
}

struct Place {
  std::string model, dp, phase, call;
};

class FailureIn : public Failure, public testing::WithParamInterface<Place> {};

TEST_P(FailureIn, APluginIsNamedWithRankStepAndPhase) {
  const Place& place = GetParam();
  const ProgramResult result = break_in(place.model, place.dp);
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_LT(since_signal_, kAllowed);
  EXPECT_THAT(result.out, AllOf(HasSubstr("slipway: rank 1 failed in step 3 " + place.phase + ": "),
                                ContainsRegex(place.call), ContainsRegex(kWaits)));
}

INSTANTIATE_TEST_SUITE_P(Places, FailureIn,
                         testing::Values(Place{"forward", "nowhere", "forward",
                                               "model faulty.*broken on purpose: forward"},
                                         Place{"node", "nowhere", "backward", "model faulty.*broken on purpose: node"},
                                         Place{"param_acquire", "nowhere", "forward", "model faulty.*99"},
                                         Place{"nowhere", "grad_ready", "backward", "broken on purpose: grad_ready"}));

// Nobody collects the reports: each rank tells its own part.
TEST_F(Failure, WithoutALauncherEachRankSaysWhereItWaits) {
  const std::string port = std::to_string(free_port()), file = faulty_manifest("forward", "nowhere");
  std::vector<std::future<ProgramResult>> running;
  for (const std::string rank : {"0", "1"}) {
    running.push_back(std::async(std::launch::async, [=] {
      std::vector<std::string> command{built_program("slipway"), "train", "--manifest", file};
      for (const std::string& option : long_run()) command.push_back(option);
      ProgramOptions how;
      how.environment = {"RANK=" + rank,       "LOCAL_RANK=" + rank,    "WORLD_SIZE=2",
                         "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port};
      return run_program(command, how);
    }));
  }
  const ProgramResult waiting = running[0].get(), broken = running[1].get();
  EXPECT_EQ(broken.exit_code, 6) << broken.out;
  EXPECT_THAT(broken.out, HasSubstr("slipway: rank 1 failed in step 3 forward: model faulty"));
  EXPECT_EQ(waiting.exit_code, 3) << waiting.out;
  EXPECT_THAT(waiting.out, AllOf(ContainsRegex("slipway: rank 0 failed in step 3 [a-z ]+: [a-z_]+ #[0-9]+ of group"),
                                 ContainsRegex(kWaits)));
}

}  // namespace
}  // namespace slipway
