#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "launcher/launch.h"
#include "tests/unit/launcher/launcher_run.h"

namespace slipway {
namespace {

using testing::HasSubstr;

TEST(Program, UsageAndVersion) {
  EXPECT_THAT(run_launcher({{"help"}}).output, HasSubstr("slipway train --manifest"));
  EXPECT_THAT(run_launcher({{"--help"}}).output, HasSubstr("slipway train --manifest"));
  const LauncherResult version = run_launcher({{"--version"}});
  EXPECT_THAT(version.output, testing::MatchesRegex("slipway [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(version.exit_code, 0);
  const LauncherResult nothing = run_launcher({{}});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.errors, HasSubstr("slipway train --manifest"));
}

TEST(Program, UnknownCommandOffersTheNearest) {
  const LauncherResult result = run_launcher({{"trian"}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("slipway: there is no command \"trian\"; did you mean \"train\"?"));
}

TEST(Program, OtherCommandsGoToTheWorker) {
  EXPECT_EQ(run_launcher({{"plugin", "list"}}).output, "command plugin\n");
  EXPECT_EQ(run_launcher({{"help", "train"}}).output, "command help\n");
  EXPECT_EQ(run_launcher({{"train", "--help", "--nproc-per-node", "2"}}).output, "command help\n");
  const LauncherResult failure = run_launcher({{"plugin", "info", "all:report:6:plugin:no plugin", "all:exit:6"}});
  EXPECT_EQ(failure.exit_code, 6);
  EXPECT_EQ(failure.errors, "slipway: no plugin\n");
  const LauncherResult crash = run_launcher({{"plugin", "info", "all:crumb:init of x.so", "all:crash"}});
  EXPECT_EQ(crash.exit_code, 6);
  EXPECT_THAT(crash.errors,
              HasSubstr("slipway: slipway plugin was killed by SIGSEGV (Segmentation fault) during init of x.so"));
}

TEST(Program, MissingWorkerIsNamed) {
  const LauncherResult result = run_launcher({{"train"}, {}, "/nowhere/slipway-worker"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("cannot start /nowhere/slipway-worker: No such file or directory"));
}

TEST(Program, NumberOfRanksIsTakenOutOfTheArguments) {
  const TrainRequest request = parse_train_request({"--manifest", "x", "--nproc-per-node", "3", "--lr", "1"});
  EXPECT_EQ(request.num_ranks, 3);
  EXPECT_EQ(request.arguments, (std::vector<std::string>{"--manifest", "x", "--lr", "1"}));
  EXPECT_EQ(parse_train_request({"--nproc_per_node=2"}).num_ranks, 2);
  EXPECT_EQ(parse_train_request({}).num_ranks, 1);
  for (const char* text : {"0", "-1", "x", "2.5", "", "5000"}) {
    EXPECT_THROW(parse_train_request({"--nproc-per-node", text}), ConfigError) << text;
  }
  EXPECT_THROW(parse_train_request({"--nproc-per-node"}), ConfigError);
  EXPECT_THROW(parse_train_request({"--nproc-per-node=1", "--nproc-per-node=1"}), ConfigError);
}

TEST(Program, LaunchedRankBecomesTheWorker) {
  const std::map<std::string, std::string> environment = {{"RANK", "5"}, {"WORLD_SIZE", "8"}};
  const LauncherResult result =
      run_launcher({{"train", "5:show:WORLD_SIZE", "5:show:SLIPWAY_REPORT_FD", "5:exit:9"}, environment});
  EXPECT_EQ(result.output, "WORLD_SIZE=8\nSLIPWAY_REPORT_FD=(unset)\n");
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(result.exit_code, 9);
}

TEST(Program, LaunchedRankStartsNoRanks) {
  const LauncherResult result =
      run_launcher({{"train", "--nproc-per-node", "2"}, {{"RANK", "0"}, {"WORLD_SIZE", "2"}}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("this is one rank already"));
}

TEST(Program, HalfARankIsRefused) {
  const LauncherResult result = run_launcher({{"train"}, {{"RANK", "0"}}});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("RANK is set in the environment and WORLD_SIZE is not"));
}

}  // namespace
}  // namespace slipway
