// The command around its runs, with the fake worker: the reference is its rank 0 alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>

#include "tests/support/temp_folder.h"
#include "tests/unit/launcher/launcher_run.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class VerifyRuns : public testing::Test {
 protected:
  // `script` is for the fake worker.
  LauncherRun verify(const std::string& layouts, const std::vector<std::string>& script) {
    const std::string path = (folder_.path() / "run.json").string();
    std::ofstream(path) << "{}";
    LauncherRun run{{"verify-parallelism", "--manifest", path, "--layouts", layouts, "--script"}};
    run.arguments.insert(run.arguments.end(), script.begin(), script.end());
    run.environment["TMPDIR"] = folder_.path().string();
    return run;
  }
  void expect_nothing_left() const {
    for (const auto& entry : fs::directory_iterator(folder_.path())) EXPECT_EQ(entry.path().filename(), "run.json");
  }

 private:
  TempFolder folder_;
};

TEST_F(VerifyRuns, AFailingLayoutIsNamedAndGivesItsCode) {
  const LauncherResult result = run_launcher(
      verify("dp2,mbs9tp2", {"0:print:noise", "1:warn:broken pipe", "1:report:5:train:no data", "1:exit:5"}));
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_THAT(result.output, AllOf(HasSubstr("1 rank"), HasSubstr("dp2 "), HasSubstr("mbs9tp2 "), HasSubstr("failed\n"),
                                   HasSubstr("    rank 1 failed in train: no data"), HasSubstr("    broken pipe")));
  expect_nothing_left();
}

TEST_F(VerifyRuns, ARefusedLayoutIsAFailedVerification) {
  const LauncherResult result =
      run_launcher(verify("dp2", {"0:print:noise", "1:report:2:configuration:not this layout", "1:exit:2"}));
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, AllOf(HasSubstr("refused\n    rank 1 failed in configuration: not this layout"),
                                   Not(HasSubstr("noise"))));
  EXPECT_EQ(result.errors, "");
}

TEST_F(VerifyRuns, AFailingReferenceEndsIt) {
  const LauncherResult result = run_launcher(verify("dp2", {"0:report:2:configuration:bad manifest", "0:exit:2"}));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(result.errors, "slipway: the reference run on 1 rank: bad manifest\n");
  expect_nothing_left();
}

TEST_F(VerifyRuns, ASignalEndsAllAndLeavesNothing) {
  RunningLauncher launcher(verify("dp2,tp2", {"1:wait"}));
  launcher.await_output("reference");
  ::kill(launcher.pid(), SIGINT);
  const LauncherResult result = launcher.finish();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, AllOf(HasSubstr("stopped\n"), HasSubstr("dp2 "), Not(HasSubstr("tp2 "))));
  expect_nothing_left();
}

TEST_F(VerifyRuns, HelpAndJson) {
  EXPECT_THAT(run_launcher({{"verify-parallelism", "--help"}}).output,
              HasSubstr("slipway verify-parallelism --manifest"));
  LauncherRun run = verify("dp2", {"1:report:2:configuration:no", "1:exit:2"});
  run.arguments.emplace_back("--json");
  const LauncherResult result = run_launcher(run);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output,
              AllOf(testing::StartsWith("{"), HasSubstr("\"exit_code\": 2"), HasSubstr("\"passed\": false")));
}

}  // namespace
}  // namespace slipway
