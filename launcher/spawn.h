// Starts one child process of the launcher. The child dies with the thread that started it (PR_SET_PDEATHSIG), so this
// is called on the main thread only.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "launcher/descriptor.h"

namespace slipway {

struct ProcessSpec {
  std::vector<std::string> command;                // the program's path first
  std::map<std::string, std::string> environment;  // added to the launcher's own
  bool pipes_output = false;                       // stdout and stderr come to the launcher
  bool has_own_group = false;                      // a process group of its own, and no stdin
};

struct Process {
  pid_t pid = -1;
  Descriptor report;  // what the child writes to SLIPWAY_REPORT_FD
  Descriptor output;  // its stdout and stderr, when piped
  Descriptor errors;
  bool has_own_group = false;
};

// Throws Error (usage) naming the program when it cannot be started.
Process spawn(const ProcessSpec& spec);

// Becomes the program. Returns only by throwing Error (usage).
[[noreturn]] void become(const std::vector<std::string>& command);

}  // namespace slipway
