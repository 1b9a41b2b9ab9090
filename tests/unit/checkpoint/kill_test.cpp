// A process that saves without end is killed at random instants: what it had committed always loads.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "core/checkpoint/checkpoint.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

extern char** environ;

namespace slipway {
namespace {

constexpr const char* kRootVariable = "SLIPWAY_KILL_TEST_ROOT";
constexpr const char* kReportVariable = "SLIPWAY_KILL_TEST_REPORT";
constexpr std::int64_t kRanks = 3;
constexpr std::int64_t kRankElements = 20000;
constexpr std::int64_t kElements = kRanks * kRankElements;

// Every element is the step, so a mixture of two saves shows.
void save(const std::filesystem::path& root, std::int64_t step) {
  const std::filesystem::path folder = begin_save(root, step);
  const std::vector<std::int64_t> data(kRankElements, step);
  std::vector<ShardDescription> shards;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    const Cut cut = flat_cut(whole_cut({kElements}), rank * kRankElements, (rank + 1) * kRankElements);
    const std::vector<Piece> pieces = {{"w", DType::kI64, {kElements}, cut, std::as_bytes(std::span(data))}};
    shards.push_back(write_shard(folder, static_cast<int>(rank), pieces));
  }
  commit_checkpoint(root, step, shards, std::to_string(step));
}

// Reports every committed step. It saves each step twice, so that replacing one is killed as well.
TEST(KillChild, DISABLED_SavesUntilKilled) {
  const char* root = std::getenv(kRootVariable);
  const char* report = std::getenv(kReportVariable);
  ASSERT_TRUE(root != nullptr && report != nullptr);
  const auto found = newest_checkpoint(root);
  for (std::int64_t step = found ? found->step : 1;; ++step) {
    for (int time = 0; time < 2; ++time) {
      save(root, step);
      ASSERT_EQ(::write(std::atoi(report), &step, sizeof step), static_cast<ssize_t>(sizeof step));
    }
  }
}

struct Child {
  pid_t pid = 0;
  int reports = -1;
};

Child start_child(const std::filesystem::path& root) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe(ends), 0);
  ::setenv(kRootVariable, root.c_str(), 1);
  ::setenv(kReportVariable, std::to_string(ends[1]).c_str(), 1);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=KillChild.DISABLED_SavesUntilKilled";
  std::string disabled = "--gtest_also_run_disabled_tests";
  char* arguments[] = {program.data(), filter.data(), disabled.data(), nullptr};
  Child child;
  EXPECT_EQ(::posix_spawn(&child.pid, program.c_str(), &actions, nullptr, arguments, environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  child.reports = ends[0];
  return child;
}

// Waits until the child has committed once more, in three rounds of four, and then up to twice as long again: instants
// all over a save, however slow the disk is.
std::int64_t wait_for_instant(const Child& child, std::mt19937& random) {
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t step = 0;
  if (random() % 4 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    return step;
  }
  EXPECT_EQ(::read(child.reports, &step, sizeof step), static_cast<ssize_t>(sizeof step));
  const double fraction = static_cast<double>(random() % 1000) / 500.0;
  std::this_thread::sleep_for(fraction * (std::chrono::steady_clock::now() - begin));
  return step;
}

// The last step that the killed child said it had committed; 0 for none.
std::int64_t last_report(int reports) {
  std::int64_t last = 0;
  for (std::int64_t step = 0; ::read(reports, &step, sizeof step) == static_cast<ssize_t>(sizeof step);) last = step;
  ::close(reports);
  return last;
}

void expect_whole(const FoundCheckpoint& found) {
  const CheckpointReader reader(found.folder);
  EXPECT_EQ(reader.step(), found.step);
  EXPECT_EQ(reader.state(), std::to_string(found.step));
  std::vector<std::int64_t> values(kElements);
  reader.read("w", whole_cut({kElements}), std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, std::vector<std::int64_t>(kElements, found.step));
}

TEST(Kill, TheNewestCommittedCheckpointAlwaysLoads) {
  const TempFolder root;
  std::mt19937 random(5);
  std::int64_t committed = 0;
  for (int round = 0; round < rounds(40, 600); ++round) {
    const Child child = start_child(root.path());
    const std::int64_t first = wait_for_instant(child, random);
    ::kill(child.pid, SIGKILL);
    int status = 0;
    ::waitpid(child.pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    committed = std::max({committed, first, last_report(child.reports)});
    const auto found = newest_checkpoint(root.path());
    if (!found && committed == 0) continue;
    ASSERT_TRUE(found.has_value());
    EXPECT_GE(found->step, committed);
    expect_whole(*found);
    std::filesystem::remove(root.path() / "latest");
    const auto scanned = newest_checkpoint(root.path());
    ASSERT_TRUE(scanned.has_value());
    expect_whole(*scanned);
  }
  EXPECT_GT(committed, 3);
}

}  // namespace
}  // namespace slipway
