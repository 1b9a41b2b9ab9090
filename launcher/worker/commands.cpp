#include "launcher/worker/commands.h"

#include "core/base/strings.h"

namespace slipway {

ExitCode run_command(const std::string& command, const Arguments& arguments, const CommandContext& context) {
  if (command == "train") return train_command(arguments, context);
  if (command == "plan") return plan_command(arguments, context);
  if (command == "generate") return generate_command(arguments, context);
  if (command == "plugin") return plugin_command(arguments, context);
  if (command == "help") return help_command(arguments, context);
  if (command == "flags") return flags_command();
  throw ConfigError("slipway-worker has no command " + in_quotes(command) +
                    suggestion(command, {"train", "plan", "generate", "plugin", "help", "flags"}));
}

}  // namespace slipway
