#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace slipway {
namespace {

// Pointers for exec; the texts outlive them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
  list.push_back(nullptr);
  return list;
}

std::vector<std::string> environment_with(const std::vector<std::string>& extra) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  all.insert(all.end(), extra.begin(), extra.end());
  return all;
}

pid_t spawn(const std::vector<std::string>& command, const ProgramOptions& options, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that the whole family can be killed
  const std::vector<std::string> environment = environment_with(options.environment);
  pid_t pid = -1;
  const int failure = posix_spawn(&pid, command[0].c_str(), &actions, &attributes, pointers(command).data(),
                                  pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw std::runtime_error("cannot start " + command[0]);
  return pid;
}

// False at the end of the output.
bool read_some(int fd, std::string& out) {
  pollfd waiting{fd, POLLIN, 0};
  if (poll(&waiting, 1, 2) <= 0) return true;
  char block[4096];
  const ssize_t n = read(fd, block, sizeof(block));
  if (n > 0) out.append(block, static_cast<size_t>(n));
  return n > 0;
}

std::string build_folder() {
  const char* folder = std::getenv("SLIPWAY_BUILD_DIR");
  if (folder == nullptr) throw std::runtime_error("SLIPWAY_BUILD_DIR is not set; run the test through ctest");
  return folder;
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& command, const ProgramOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = spawn(command, options, ends[1]);
  close(ends[1]);
  ProgramResult result;
  const auto deadline = std::chrono::steady_clock::now() + options.limit;
  while (read_some(ends[0], result.out)) {
    if (options.watch) options.watch(pid);
    if (std::chrono::steady_clock::now() > deadline) {
      kill(-pid, SIGKILL);
      result.out += "\n(killed by the test after its time limit)\n";
      break;
    }
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string built_program(const std::string& name) { return build_folder() + "/bin/" + name; }

std::string built_plugin(const std::string& name) {
  return build_folder() + "/lib/slipway/plugins/libslipway_" + name + ".so";
}

std::string toy_plugin(const std::string& name) { return build_folder() + "/tests/plugins/libslipway_" + name + ".so"; }

}  // namespace slipway
