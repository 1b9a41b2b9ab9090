// Runs a program as a user would: its own process, its output and exit code, a time limit after which it is killed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace slipway {

struct ProgramResult {
  int exit_code = -1;  // 128 + signal when a signal ended it
  std::string out;     // standard output and standard error, as they came
};

struct ProgramOptions {
  std::string folder;                    // current folder of the program; "" keeps the test's
  std::vector<std::string> environment;  // "NAME=value", beside the test's own
  std::chrono::seconds limit{120};
  // Called about every 2 ms while the program runs; gets its process id.
  std::function<void(pid_t)> watch;
};

ProgramResult run_program(const std::vector<std::string>& command, const ProgramOptions& options = {});

// build/bin/<name>
std::string built_program(const std::string& name);
// build/lib/slipway/plugins/libslipway_<name>.so
std::string built_plugin(const std::string& name);
// build/tests/plugins/libslipway_<name>.so
std::string toy_plugin(const std::string& name);

}  // namespace slipway
