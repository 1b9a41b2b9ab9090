// Plugins that crash, that are not the pinned ones, or that differ from rank to rank: the run ends, and its message
// names the plugin's file and the call, or both values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "tests/support/program.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// A plugin's sha256 as it is written in manifests.
std::string sha256_of(const std::string& path) { return sha256_hex(read_file(path, ExitCode::kPlugin)); }

class PluginFault : public testing::Test {
 protected:
  // tiny.json with `data` as its data section and `plugins` as its list of plugins.
  std::string manifest(const nlohmann::json& data, const nlohmann::json& plugins = nlohmann::json::array()) const {
    const std::string source = std::string(std::getenv("SLIPWAY_SOURCE_DIR")) + "/launcher/manifests/tiny.json";
    nlohmann::json json = nlohmann::json::parse(read_file(source, ExitCode::kUsage));
    if (!data.is_null()) json["data"] = data;
    json["plugins"] = plugins;
    const std::string path = (folder_.path() / "run.json").string();
    std::ofstream(path) << json;
    return path;
  }
  static ProgramResult train(std::vector<std::string> options, const ProgramOptions& how = {}) {
    std::vector<std::string> command{built_program("slipway"), "train", "--cpu-threads", "1"};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, how);
  }
  ProgramResult train_with(const std::string& toy) const {
    return train({"--manifest", manifest(nullptr), "--plugin", toy_plugin(toy)});
  }
  ProgramResult crash_in(const std::string& call, const std::string& by, int ranks = 1) const {
    const nlohmann::json data = {{"use", "crashes"}, {"in", call}, {"by", by}};
    return train({"--manifest", manifest(data, {toy_plugin("crashes")}), "--nproc-per-node", std::to_string(ranks)});
  }

  TempFolder folder_;
};

TEST_F(PluginFault, ACrashAtLoadIsNamed) {
  const ProgramResult result = train_with("load_crashes");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, HasSubstr("rank 0 was killed by SIGSEGV (Segmentation fault) during loading plugin " +
                                    toy_plugin("load_crashes") + "; "));
}

TEST_F(PluginFault, AnExitAtLoadIsNoSuccess) {
  const ProgramResult result = train_with("load_exits");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, HasSubstr("ended with exit code 0 during loading plugin " + toy_plugin("load_exits") + "; "));
}

TEST_F(PluginFault, ACrashInInitIsNamed) {
  const ProgramResult result = train_with("init_crashes");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("SIGSEGV"), HasSubstr("during init of plugin org.slipway.tests.init_crashes"),
                                HasSubstr(toy_plugin("init_crashes"))));
}

TEST_F(PluginFault, AFailureOfInitSpeaksForItself) {
  const ProgramResult result = train_with("init_fails");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr(toy_plugin("init_fails")), HasSubstr("plug the toy in")));
}

TEST_F(PluginFault, ACrashOfAToolIsNamedToo) {
  const ProgramResult result = run_program({built_program("slipway"), "plugin", "info", toy_plugin("load_crashes")});
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, HasSubstr("during loading plugin " + toy_plugin("load_crashes")));
}

class CrashIn : public PluginFault, public testing::WithParamInterface<const char*> {};

TEST_P(CrashIn, ACallIsNamedWithItsPlugin) {
  const ProgramResult result = crash_in(GetParam(), "fault");
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, HasSubstr("rank 0 was killed by SIGSEGV (Segmentation fault) during " +
                                    std::string(GetParam()) + " of dataset crashes (" + toy_plugin("crashes") + "); "));
}

INSTANTIATE_TEST_SUITE_P(Calls, CrashIn, testing::Values("create", "build", "get", "destroy"));

TEST_F(PluginFault, EveryWayToCrashIsNamed) {
  const std::string call = "get of dataset crashes (" + toy_plugin("crashes") + ")";
  const ProgramResult aborted = crash_in("get", "abort");
  EXPECT_EQ(aborted.exit_code, 6) << aborted.out;
  EXPECT_THAT(aborted.out, HasSubstr("SIGABRT (Aborted) during " + call + "; "));
  const ProgramResult overflown = crash_in("get", "overflow");
  EXPECT_EQ(overflown.exit_code, 6) << overflown.out;
  EXPECT_THAT(overflown.out, HasSubstr("SIGSEGV (Segmentation fault) during " + call + "; "));
  const ProgramResult thread = crash_in("create", "thread");
  EXPECT_EQ(thread.exit_code, 6) << thread.out;
  EXPECT_THAT(thread.out, AllOf(HasSubstr("during create of dataset crashes"), HasSubstr(", on another thread; ")));
}

TEST_F(PluginFault, ACrashOfOneOfTwoRanksIsTheCause) {
  const ProgramResult result = crash_in("get", "fault", 2);
  EXPECT_EQ(result.exit_code, 6) << result.out;
  EXPECT_THAT(result.out, HasSubstr("was killed by SIGSEGV (Segmentation fault) during get of dataset crashes"));
}

TEST_F(PluginFault, WithoutALauncherTheRankNamesTheCall) {
  const ProgramResult result =
      train({"--manifest", manifest({{"use", "crashes"}}, {toy_plugin("crashes")})},
            {.folder = "", .environment = {"RANK=0", "WORLD_SIZE=1", "LOCAL_RANK=0"}, .watch = {}});
  EXPECT_EQ(result.exit_code, 128 + SIGSEGV) << result.out;
  EXPECT_THAT(result.out, HasSubstr("slipway: crashed during get of dataset crashes (" + toy_plugin("crashes") + ")"));
}

// The toy makes a file as soon as it is loaded: what a wrong pin refuses has not run at all.
TEST_F(PluginFault, AWrongPinIsRefusedBeforeAnyCodeRuns) {
  const std::string toy = toy_plugin("leaves_a_trace"), trace = (folder_.path() / "trace").string();
  const ProgramOptions traced{.folder = "", .environment = {"SLIPWAY_TOY_TRACE=" + trace}, .watch = {}};
  const auto pinned = [&](const std::string& pin) {
    return train({"--manifest", manifest(nullptr, {{{"path", toy}, {"sha256", pin}}}), "--train-iters", "3"}, traced);
  };
  const std::string right = sha256_of(toy), wrong(64, 'a');
  const ProgramResult refused = pinned(wrong);
  EXPECT_EQ(refused.exit_code, 6) << refused.out;
  EXPECT_THAT(refused.out, AllOf(HasSubstr(toy + " has sha256 " + right), HasSubstr("the manifest pins " + wrong),
                                 HasSubstr("use the pinned file or change the pin")));
  EXPECT_FALSE(fs::exists(trace));
  const ProgramResult taken = pinned(right);
  EXPECT_EQ(taken.exit_code, 0) << taken.out;
  EXPECT_TRUE(fs::exists(trace));
}

// Two ranks that were started by hand, each with its own options and environment.
class TwoRanks : public PluginFault {
 protected:
  struct Given {
    std::vector<std::string> options = {};
    std::vector<std::string> environment = {};
  };

  std::vector<ProgramResult> start(const Given& first, const Given& second) const {
    const std::string port = std::to_string(free_port()), file = manifest(nullptr);
    std::vector<std::future<ProgramResult>> running;
    for (const auto& [rank, given] : {std::pair("0", &first), std::pair("1", &second)}) {
      ProgramOptions how;
      how.environment = given->environment;
      for (const std::string name : {"RANK=", "LOCAL_RANK="}) how.environment.push_back(name + rank);
      how.environment.insert(how.environment.end(),
                             {"WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + port});
      std::vector<std::string> options{"--manifest", file, "--train-iters", "3"};
      options.insert(options.end(), given->options.begin(), given->options.end());
      running.push_back(std::async(std::launch::async, [options, how] { return train(options, how); }));
    }
    return {running[0].get(), running[1].get()};
  }

  // A folder with a copy of the mock plugin; `more` is appended to the file, which does not change what it does.
  std::string folder_with_mock(const std::string& name, const std::string& more) const {
    const fs::path folder = folder_.path() / name;
    fs::create_directory(folder);
    fs::copy_file(built_plugin("mock"), folder / "libslipway_mock.so");
    std::ofstream(folder / "libslipway_mock.so", std::ios::app | std::ios::binary) << more;
    return folder.string();
  }
};

TEST_F(TwoRanks, DifferentPluginsAreNamedWithBothValues) {
  const std::string other = folder_with_mock("other", "x");
  for (const ProgramResult& result : start({}, {.options = {}, .environment = {"SLIPWAY_PLUGIN_PATH=" + other}})) {
    EXPECT_EQ(result.exit_code, 6) << result.out;
    EXPECT_THAT(
        result.out,
        AllOf(HasSubstr("the ranks have different plugins for dataset mock"),
              HasSubstr("rank 0 has org.slipway.mock 0.1.0 with sha256 " + sha256_of(built_plugin("mock"))),
              HasSubstr("rank 1 has org.slipway.mock 0.1.0 with sha256 " + sha256_of(other + "/libslipway_mock.so")),
              HasSubstr("give every rank the same plugin file")));
  }
}

TEST_F(TwoRanks, TheSamePluginInAnotherPlaceIsTheSame) {
  const std::string same = folder_with_mock("same", "");
  for (const ProgramResult& result : start({}, {.options = {}, .environment = {"SLIPWAY_PLUGIN_PATH=" + same}})) {
    EXPECT_EQ(result.exit_code, 0) << result.out;
  }
}

TEST_F(TwoRanks, ADifferentOptionIsNamedWithBothValues) {
  for (const ProgramResult& result : start({}, {.options = {"--lr", "0.5"}, .environment = {}})) {
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.out, AllOf(HasSubstr("train.lr is 0.003 on rank 0 and 0.5 on rank 1"),
                                  HasSubstr("start every rank with the same manifest and options")));
  }
}

}  // namespace
}  // namespace slipway
