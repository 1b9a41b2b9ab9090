#include "core/base/reporter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "core/base/file.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

TEST(Reporter, WritesOneJsonLinePerReport) {
  const TempFolder folder;
  const std::string path = (folder.path() / "report").string();
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(fd, 0);
  Reporter reporter(fd);
  { const Crumb crumb(reporter, "init of \"x\"\n"); }
  reporter.error(ExitCode::kData, "initialize", "bad \xff byte");
  ::close(fd);
  EXPECT_EQ(read_file(path, ExitCode::kUsage),
            "{\"crumb\":\"init of \\\"x\\\"\\n\"}\n{\"crumb\":\"\"}\n"
            "{\"error\":\"bad \xef\xbf\xbd byte\",\"exit_code\":5,\"step\":\"initialize\"}\n");
}

TEST(Reporter, IsSilentWithoutALauncher) {
  ::unsetenv("SLIPWAY_REPORT_FD");
  Reporter reporter(Reporter::fd_from_environment());
  EXPECT_FALSE(reporter.connected());
  reporter.crumb("nobody listens");
}

TEST(Reporter, DescriptorOfTheEnvironmentIsNotInherited) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::setenv("SLIPWAY_REPORT_FD", std::to_string(ends[1]).c_str(), 1);
  EXPECT_EQ(Reporter::fd_from_environment(), ends[1]);
  EXPECT_EQ(::fcntl(ends[1], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(Reporter::fd_from_environment(), -1);
  for (const char* text : {"", "x", "1", "4x"}) {
    ::setenv("SLIPWAY_REPORT_FD", text, 1);
    EXPECT_EQ(Reporter::fd_from_environment(), -1) << text;
  }
}

}  // namespace
}  // namespace slipway
