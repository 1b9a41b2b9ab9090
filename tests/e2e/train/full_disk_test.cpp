// A disk that fills up during a run: nothing that was committed is lost, the message says what to do, and --resume does
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/program.h"
#include "tests/support/run_folder.h"
#include "tests/support/small_disk.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kKiB = uint64_t{1} << 10;

class FullDisk : public testing::Test {
 protected:
  ProgramResult train(const std::string& run, int ranks, std::vector<std::string> more) const {
    std::vector<std::string> command{built_program("slipway"),
                                     "train",
                                     "--manifest",
                                     std::string(std::getenv("SLIPWAY_SOURCE_DIR")) + "/launcher/manifests/tiny.json",
                                     "--output-dir",
                                     (disk_.path() / run).string(),
                                     "--nproc-per-node",
                                     std::to_string(ranks),
                                     "--save-interval",
                                     "4",
                                     "--lr-decay-iters",
                                     "12",
                                     "--cpu-threads",
                                     "1"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  }
  void train_well(const std::string& run, int ranks, const std::vector<std::string>& more) const {
    const ProgramResult result = train(run, ranks, more);
    ASSERT_EQ(result.exit_code, 0) << result.out;
  }
  std::filesystem::path checkpoints(const std::string& run) const { return disk_.path() / run / "checkpoints"; }

  SmallDisk disk_{24 * kMiB};  // a checkpoint of tiny.json has 1.4 MiB
};

class FullDiskOf : public FullDisk, public testing::WithParamInterface<int> {};

TEST_P(FullDiskOf, RanksKeepTheCheckpointBeforeAndResume) {
  const int ranks = GetParam();
  train_well("straight", ranks, {"--train-iters", "12"});
  train_well("filled", ranks, {"--train-iters", "4"});
  disk_.leave(kMiB / 2);
  const ProgramResult full = train("filled", ranks, {"--train-iters", "12", "--resume"});
  EXPECT_EQ(full.exit_code, 4) << full.out;
  EXPECT_THAT(full.out, AllOf(HasSubstr("cannot write " + checkpoints("filled").string() + "/.tmp_step_00000008/rank_"),
                              HasSubstr("; make room there and start again, a run with --resume")));
  EXPECT_EQ(tensors_of(disk_.path() / "straight", 4), tensors_of(disk_.path() / "filled", 4));
  disk_.make_room();
  train_well("filled", ranks, {"--train-iters", "12", "--resume"});
  EXPECT_EQ(metrics_of(disk_.path() / "straight"), metrics_of(disk_.path() / "filled"));
  EXPECT_EQ(tensors_of(disk_.path() / "straight", 12), tensors_of(disk_.path() / "filled", 12));
  EXPECT_FALSE(std::filesystem::exists(checkpoints("filled") / ".tmp_step_00000008"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, FullDiskOf, testing::Values(1, 2));

TEST_F(FullDisk, MetricsThatCannotBeWrittenEndTheRun) {
  train_well("straight", 1, {"--train-iters", "12"});
  train_well("filled", 1, {"--train-iters", "4"});
  disk_.leave(16 * kKiB);  // some 50 lines of metrics
  const ProgramResult full = train("filled", 1, {"--train-iters", "200", "--no-save", "--resume"});
  EXPECT_NE(full.exit_code, 0) << full.out;
  EXPECT_THAT(full.out, AllOf(HasSubstr("cannot write " + (disk_.path() / "filled").string()),
                              HasSubstr("metrics.jsonl: "), HasSubstr("resume")));
  disk_.make_room();
  train_well("filled", 1, {"--train-iters", "12", "--resume"});
  EXPECT_EQ(metrics_of(disk_.path() / "straight"), metrics_of(disk_.path() / "filled"));
}

// The log is no result: it may be lost, but not silently. /dev/full refuses whatever is written to it.
TEST_F(FullDisk, ALogThatCannotBeWrittenIsSaidOnce) {
  train_well("run", 1, {"--train-iters", "4"});
  std::filesystem::remove(disk_.path() / "run" / "log.txt");
  std::filesystem::create_symlink("/dev/full", disk_.path() / "run" / "log.txt");
  const ProgramResult result = train("run", 1, {"--train-iters", "8", "--log-interval", "1", "--resume"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  const std::string warning = "cannot write " + (disk_.path() / "run" / "log.txt").string();
  EXPECT_THAT(result.out, HasSubstr(warning + ": No space left on device"));
  EXPECT_EQ(result.out.find(warning), result.out.rfind(warning)) << result.out;
}

}  // namespace
}  // namespace slipway
