// slipway-worker: one rank of a run, or one command that needs plugins. `slipway` starts it; it may also be started by
// torchrun, Slurm or mpirun. The only place where an error becomes an exit code.
#include <signal.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "core/base/crash_report.h"
#include "launcher/worker/commands.h"
#include "launcher/worker/failure.h"

namespace {

// Through the launcher when there is one: it prints one message for all ranks.
int fail(slipway::Reporter& reporter, const std::string& phase, const std::exception& error) {
  const auto [code, message] = slipway::failure_of(error);
  reporter.error(code, phase, message);
  if (!reporter.connected()) std::cerr << "slipway: " << message << "\n";
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);  // a reader that leaves must not end a run
  signal(SIGXFSZ, SIG_IGN);  // a file that must not grow is told as an error, like a full disk
  slipway::Reporter reporter(slipway::Reporter::fd_from_environment());
  slipway::report_crashes(reporter);
  const std::string command = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + std::min(argc, 2), argv + argc);
  std::string phase = command;
  try {
    return static_cast<int>(slipway::run_command(command, arguments, {reporter, phase}));
  } catch (const std::exception& error) {
    return fail(reporter, phase, error);
  }
}
