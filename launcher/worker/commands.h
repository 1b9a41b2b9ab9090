// The commands of slipway-worker. Each throws Error; texts go to standard output.
#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/reporter.h"

namespace slipway {

struct CommandContext {
  Reporter& reporter;
  std::string& phase;  // what is being done, for error messages
};
using Arguments = std::vector<std::string>;

ExitCode run_command(const std::string& command, const Arguments& arguments, const CommandContext& context);

ExitCode train_command(const Arguments& arguments, const CommandContext& context);
// Text from a trained model, to standard output.
ExitCode generate_command(const Arguments& arguments, const CommandContext& context);
// What a run on --world-size ranks will be, without running it.
ExitCode plan_command(const Arguments& arguments, const CommandContext& context);
// plugin list | plugin info PATH-OR-NAME
ExitCode plugin_command(const Arguments& arguments, const CommandContext& context);
// Every option of the core and of the providers that the arguments choose; a first word names a section.
ExitCode help_command(const Arguments& arguments, const CommandContext& context);
// The text of core/config/FLAGS.md.
ExitCode flags_command();

}  // namespace slipway
