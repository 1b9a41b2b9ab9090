#include "tests/unit/launcher/launcher_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "launcher/program.h"

namespace slipway {
namespace {

[[noreturn]] void become_launcher(const LauncherRun& run) {
  for (const char* name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "SLIPWAY_REPORT_FD"}) ::unsetenv(name);
  for (const auto& [name, value] : run.environment) ::setenv(name.c_str(), value.c_str(), 1);
  Worker worker;
  worker.path = run.worker.empty() ? SLIPWAY_FAKE_WORKER : run.worker;
  worker.timing = {std::chrono::milliseconds(300), std::chrono::milliseconds(run.grace_ms)};
  ::_exit(run_program(run.arguments, worker));
}

}  // namespace

RunningLauncher::RunningLauncher(const LauncherRun& run) {
  std::array<int, 2> output{};
  std::array<int, 2> errors{};
  EXPECT_EQ(::pipe2(output.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(errors.data(), O_CLOEXEC), 0);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(output[1], STDOUT_FILENO);
    ::dup2(errors[1], STDERR_FILENO);
    become_launcher(run);
  }
  ::close(output[1]);
  ::close(errors[1]);
  output_ = Descriptor(output[0]);
  errors_ = Descriptor(errors[0]);
}

RunningLauncher::~RunningLauncher() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void RunningLauncher::await_output(const std::string& text) {
  std::array<char, 4096> block;
  while (seen_.find(text) == std::string::npos) {
    const ssize_t got = ::read(output_.get(), block.data(), block.size());
    ASSERT_GT(got, 0) << "ended without printing " << text << "; printed: " << seen_;
    seen_.append(block.data(), static_cast<std::size_t>(got));
  }
}

LauncherResult RunningLauncher::finish() {
  LauncherResult result;
  result.output = seen_;
  std::array<pollfd, 2> sources = {{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&result.output, &result.errors};
  std::array<char, 4096> block;
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    ::poll(sources.data(), sources.size(), -1);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].fd < 0 || sources[i].revents == 0) continue;
      const ssize_t got = ::read(sources[i].fd, block.data(), block.size());
      if (got > 0)
        texts[i]->append(block.data(), static_cast<std::size_t>(got));
      else
        sources[i].fd = -1;
    }
  }
  int status = 0;
  EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
  pid_ = -1;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

LauncherResult run_launcher(const LauncherRun& run) { return RunningLauncher(run).finish(); }

}  // namespace slipway
