// Watches the processes of a run to their end: passes on what they print, forwards SIGINT and SIGTERM, ends all when
// one fails, and leaves none behind. Called on the main thread, which must be the one that spawned them.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "launcher/outcome.h"
#include "launcher/signals.h"
#include "launcher/spawn.h"

namespace slipway {

using LineSink = std::function<void(const std::string& line)>;

struct SuperviseTiming {
  std::chrono::milliseconds settle{500};  // after a failure, for the others to fail by themselves and say why
  std::chrono::milliseconds grace{5000};  // between SIGTERM and SIGKILL
};

struct NamedProcess {
  std::string name;  // "rank 1"; before each piped line as "[rank 1] "
  Process process;
  LineSink lines = {};  // gets piped lines, unmarked, instead of our stdout and stderr
};

// Returns when all have ended. A third SIGINT or SIGTERM kills what is still there.
std::vector<RankEnd> supervise(std::vector<NamedProcess> processes, SignalSource& signals, SuperviseTiming timing);

}  // namespace slipway
