#include "launcher/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "launcher/signals.h"

extern char** environ;

namespace slipway {
namespace {

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw Error(ExitCode::kUsage, std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> lines;
  for (char** line = environ; *line; ++line) {
    const std::string text = *line;
    if (!added.contains(text.substr(0, text.find('=')))) lines.push_back(text);
  }
  for (const auto& [name, value] : added) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers_to(std::vector<std::string>& lines) {
  std::vector<char*> pointers;
  for (std::string& line : lines) pointers.push_back(line.data());
  pointers.push_back(nullptr);
  return pointers;
}

// All that the child needs, made before the fork: after it only system calls are safe.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  bool has_own_group;
  int report, output, errors, start_error, no_input;
  pid_t parent;
};

[[noreturn]] void run_child(const ChildPlan& plan) {
  if (plan.has_own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(static_cast<int>(ExitCode::kRankDied));
  restore_signals_in_child();
  ::fcntl(plan.report, F_SETFD, 0);
  if (plan.no_input >= 0) ::dup2(plan.no_input, STDIN_FILENO);
  if (plan.output >= 0) ::dup2(plan.output, STDOUT_FILENO);
  if (plan.errors >= 0) ::dup2(plan.errors, STDERR_FILENO);
  ::execve(plan.program, plan.arguments, plan.environment);
  const int reason = errno;
  if (::write(plan.start_error, &reason, sizeof reason) < 0) ::_exit(126);
  ::_exit(127);
}

[[noreturn]] void refuse(const std::string& program, int reason) {
  throw Error(ExitCode::kUsage, "cannot start " + program + ": " + std::strerror(reason) +
                                    "; slipway and slipway-worker belong in one folder, built or installed together");
}

// Returns when the child has become its program; throws what it said when it could not.
void await_start(const std::string& program, pid_t pid, Pipe& start) {
  start.writer.close();
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(start.reader.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (got != static_cast<ssize_t>(sizeof reason)) return;
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  refuse(program, reason);
}

}  // namespace

Process spawn(const ProcessSpec& spec) {
  Pipe report = make_pipe();
  Pipe start = make_pipe();
  Pipe output = spec.pipes_output ? make_pipe() : Pipe{};
  Pipe errors = spec.pipes_output ? make_pipe() : Pipe{};
  const Descriptor no_input(spec.has_own_group ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);

  std::map<std::string, std::string> added = spec.environment;
  added["SLIPWAY_REPORT_FD"] = std::to_string(report.writer.get());
  std::vector<std::string> environment = environment_with(added);
  std::vector<std::string> command = spec.command;
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<char*> variables = pointers_to(environment);
  const ChildPlan plan{command[0].c_str(),  arguments.data(),    variables.data(),    spec.has_own_group,
                       report.writer.get(), output.writer.get(), errors.writer.get(), start.writer.get(),
                       no_input.get(),      ::getpid()};

  const pid_t pid = ::fork();
  if (pid == 0) run_child(plan);
  if (pid < 0) refuse(command[0], errno);
  await_start(command[0], pid, start);
  return {pid, std::move(report.reader), std::move(output.reader), std::move(errors.reader), spec.has_own_group};
}

void become(const std::vector<std::string>& command) {
  std::vector<std::string> words = command;
  const std::vector<char*> arguments = pointers_to(words);
  ::execv(words[0].c_str(), arguments.data());
  refuse(words[0], errno);
}

}  // namespace slipway
