// Runs the launcher in a process of its own, with the fake worker in place of slipway-worker. One thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "launcher/descriptor.h"

namespace slipway {

struct LauncherRun {
  std::vector<std::string> arguments;  // of slipway
  std::map<std::string, std::string> environment = {};
  std::string worker = {};  // "": the fake worker
  int grace_ms = 300;
};

struct LauncherResult {
  int exit_code = -1;  // -1: killed by a signal
  std::string output;
  std::string errors;
};

class RunningLauncher {
 public:
  explicit RunningLauncher(const LauncherRun& run);
  ~RunningLauncher();
  RunningLauncher(const RunningLauncher&) = delete;
  RunningLauncher& operator=(const RunningLauncher&) = delete;

  pid_t pid() const { return pid_; }
  // Returns when the text has appeared on stdout; fails the test when stdout ends before.
  void await_output(const std::string& text);
  // Reads until every process that holds the launcher's stdout and stderr has ended.
  LauncherResult finish();

 private:
  pid_t pid_ = -1;
  Descriptor output_;
  Descriptor errors_;
  std::string seen_;
};

LauncherResult run_launcher(const LauncherRun& run);

}  // namespace slipway
