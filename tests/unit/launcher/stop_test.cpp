#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/unit/launcher/launcher_run.h"

namespace slipway {
namespace {

LauncherRun two_ranks(std::vector<std::string> script) {
  LauncherRun run{{"train", "--nproc-per-node", "2"}};
  run.arguments.insert(run.arguments.end(), script.begin(), script.end());
  return run;
}

void await_both(RunningLauncher& launcher) {
  launcher.await_output("ready0");
  launcher.await_output("ready1");
}

TEST(Stop, TermReachesTheRanksAndTheyMaySave) {
  RunningLauncher launcher(two_ranks({"all:save-on-term", "0:print:ready0", "1:print:ready1", "all:wait"}));
  await_both(launcher);
  ::kill(launcher.pid(), SIGTERM);
  const LauncherResult result = launcher.finish();
  EXPECT_EQ(result.exit_code, 20);
  EXPECT_EQ(result.errors, "");
}

TEST(Stop, InterruptReachesTheRanksAsInterrupt) {
  RunningLauncher launcher(two_ranks({"all:save-on-int", "0:print:ready0", "1:print:ready1", "all:wait"}));
  await_both(launcher);
  ::kill(launcher.pid(), SIGINT);
  EXPECT_EQ(launcher.finish().exit_code, 20);
}

TEST(Stop, RanksThatCannotSaveAreReported) {
  RunningLauncher launcher(two_ranks({"0:print:ready0", "1:print:ready1", "all:wait"}));
  await_both(launcher);
  ::kill(launcher.pid(), SIGTERM);
  const LauncherResult result = launcher.finish();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.errors, "slipway: stopped by SIGTERM (Terminated) before the end\n");
}

TEST(Stop, RanksDieWithTheLauncher) {
  RunningLauncher launcher(two_ranks({"all:ignore-term", "0:print:ready0", "1:print:ready1", "all:wait"}));
  await_both(launcher);
  ::kill(launcher.pid(), SIGKILL);
  // Returns only when no rank holds the output any more.
  EXPECT_EQ(launcher.finish().exit_code, -1);
}

TEST(Stop, CommandIsStoppedToo) {
  RunningLauncher launcher({{"plugin", "all:save-on-term", "all:print:ready", "all:wait"}});
  launcher.await_output("ready");
  ::kill(launcher.pid(), SIGTERM);
  EXPECT_EQ(launcher.finish().exit_code, 20);
}

}  // namespace
}  // namespace slipway
