#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/base/strings.h"
#include "tests/unit/launcher/launcher_run.h"

namespace slipway {
namespace {

using testing::HasSubstr;

LauncherResult train(int num_ranks, std::vector<std::string> script) {
  LauncherRun run{{"train", "--nproc-per-node", std::to_string(num_ranks)}};
  run.arguments.insert(run.arguments.end(), script.begin(), script.end());
  return run_launcher(run);
}

TEST(Ranks, AreToldWhoTheyAre) {
  const LauncherResult result = train(
      2, {"1:show:RANK", "1:show:LOCAL_RANK", "1:show:WORLD_SIZE", "1:show:LOCAL_WORLD_SIZE", "1:show:MASTER_ADDR"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output,
            "[rank 1] RANK=1\n[rank 1] LOCAL_RANK=1\n[rank 1] WORLD_SIZE=2\n[rank 1] LOCAL_WORLD_SIZE=2\n"
            "[rank 1] MASTER_ADDR=127.0.0.1\n");
}

TEST(Ranks, MeetAtOnePort) {
  const LauncherResult result = train(2, {"all:show:MASTER_PORT"});
  std::vector<std::string> ports;
  for (const std::string& line : split(result.output, '\n')) {
    if (!line.empty()) ports.push_back(line.substr(line.find("MASTER_PORT=") + 12));
  }
  ASSERT_EQ(ports.size(), 2u);
  EXPECT_EQ(ports[0], ports[1]);
  EXPECT_GT(std::stoi(ports[0]), 0);
}

TEST(Ranks, OnlyOthersThanZeroAreMarked) {
  const LauncherResult result = train(2, {"0:print:plain", "0:warn:w0", "1:print-part:no line end", "1:warn:w1"});
  EXPECT_THAT(split(result.output, '\n'), testing::UnorderedElementsAre("plain", "[rank 1] no line end", ""));
  EXPECT_THAT(split(result.errors, '\n'), testing::UnorderedElementsAre("w0", "[rank 1] w1", ""));
}

TEST(Ranks, OneFailingEndsAllWithItsMessageAndCode) {
  const LauncherResult result = train(3, {"1:report:5:initialize:no data", "1:exit:5", "all:wait"});
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.errors, "slipway: rank 1 failed in initialize: no data\n");
}

TEST(Ranks, SameMessageIsToldOnce) {
  const LauncherResult result = train(3, {"all:report:2:configuration:bad manifest", "all:exit:2"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.errors, "slipway: bad manifest\n");
}

TEST(Ranks, CrashIsNamedWithRankAndSignal) {
  const LauncherResult result = train(2, {"1:crumb:init of x.so", "1:crumb:", "1:crash", "all:wait"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors, "slipway: rank 1 was killed by SIGSEGV (Segmentation fault)\n");
}

TEST(Ranks, CrashInAPluginCallIsThePlugins) {
  const LauncherResult result = train(2, {"1:crumb:init of x.so", "1:crash", "all:wait"});
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.errors, HasSubstr("rank 1 was killed by SIGSEGV (Segmentation fault) during init of x.so"));
}

TEST(Ranks, VictimOfACrashIsNotBlamed) {
  const LauncherResult result =
      train(2, {"0:report:3:train:peer is gone", "0:exit:3", "1:raise:" + std::to_string(SIGABRT)});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.errors, HasSubstr("rank 1 was killed by SIGABRT"));
}

TEST(Ranks, OneThatIgnoresTermIsKilled) {
  const LauncherResult result =
      train(2, {"0:ignore-term", "0:print:ignoring", "0:wait", "1:report:4:train:disk full", "1:exit:4"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.errors, "slipway: rank 1 failed in train: disk full\n");
}

TEST(Ranks, OneThatReportsAndHangsIsTheCause) {
  const LauncherResult result = train(2, {"0:ignore-term", "0:report:4:finalize:disk full", "all:wait"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.errors, "slipway: rank 0 failed in finalize: disk full\n");
}

TEST(Ranks, OneAloneIsAChildToo) {
  const LauncherResult result = train(1, {"0:print:hello", "0:crash"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.output, "hello\n");
  EXPECT_EQ(result.errors, "slipway: rank 0 was killed by SIGSEGV (Segmentation fault)\n");
}

TEST(Ranks, MuchOutputArrivesWhole) {
  const std::string line(5000, 'x');
  std::vector<std::string> script(60, "1:print:" + line);
  const LauncherResult result = train(2, script);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.size(), 60 * (line.size() + 1 + std::string("[rank 1] ").size()));
}

}  // namespace
}  // namespace slipway
