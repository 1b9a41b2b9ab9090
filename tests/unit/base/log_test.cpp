#include "core/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::HasSubstr;

TEST(Log, LinesHaveLevelAndPrefixAndLowerLevelsAreDropped) {
  const TempFolder folder;
  const std::string path = (folder.path() / "log.txt").string();
  Log log(LogLevel::kInfo, "rank 3");
  log.set_stderr(false);
  log.add_file(path);
  log.debug("hidden");
  log.info("seen");
  log.error("bad");
  const std::string text = read_file(path, ExitCode::kUsage);
  EXPECT_THAT(text, HasSubstr(" info: [rank 3] seen\n"));
  EXPECT_THAT(text, HasSubstr(" error: [rank 3] bad\n"));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
}

TEST(Log, ThreadsWriteWholeLines) {
  const TempFolder folder;
  const std::string path = (folder.path() / "log.txt").string();
  Log log(LogLevel::kDebug);
  log.set_stderr(false);
  log.add_file(path);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) log.debug(std::string(200, 'x'));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = split(read_file(path, ExitCode::kUsage), '\n');
  ASSERT_EQ(lines.size(), 401u);
  for (std::size_t i = 0; i < 400; ++i) EXPECT_TRUE(lines[i].ends_with(" debug: " + std::string(200, 'x'))) << lines[i];
}

TEST(Log, TheFirstFileGetsTheLinesBeforeIt) {
  const TempFolder folder;
  const std::string path = (folder.path() / "log.txt").string();
  Log log(LogLevel::kInfo);
  log.set_stderr(false);
  for (int i = 0; i < 1200; ++i) log.info("early " + std::to_string(i));
  log.add_file(path);
  log.write_to_files(LogLevel::kInfo, "later");
  log.show("live");  // no terminal here: nothing
  const std::vector<std::string> lines = split(read_file(path, ExitCode::kUsage), '\n');
  ASSERT_EQ(lines.size(), 1002u);
  EXPECT_TRUE(lines[0].ends_with(" info: early 200")) << lines[0];
  EXPECT_TRUE(lines[999].ends_with(" info: early 1199")) << lines[999];
  EXPECT_TRUE(lines[1000].ends_with(" info: later")) << lines[1000];
}

TEST(Log, NothingIsAtTheLevelOff) {
  EXPECT_FALSE(Log(LogLevel::kOff).enabled(LogLevel::kError));
  EXPECT_FALSE(Log(LogLevel::kOff).enabled(LogLevel::kOff));
}

TEST(Log, LevelsHaveNames) {
  EXPECT_EQ(log_level("warning"), LogLevel::kWarning);
  try {
    log_level("warnign");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"warning\"?"));
  }
}

TEST(Log, FileThatCannotBeOpenedIsAnError) {
  Log log(LogLevel::kInfo);
  EXPECT_THROW(log.add_file("/nowhere/log.txt"), Error);
}

}  // namespace
}  // namespace slipway
