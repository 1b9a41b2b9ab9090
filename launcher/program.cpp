#include "launcher/program.h"

#include <algorithm>
#include <iostream>

#include "core/base/build_info.h"
#include "core/base/error.h"
#include "launcher/usage.h"
#include "launcher/verify/verify_parallelism.h"

namespace slipway {
namespace {

bool is_help_flag(const std::string& word) { return word == "--help" || word == "-h"; }

Outcome print(const std::string& text) {
  std::cout << text << std::flush;
  return {};
}

Outcome train(const std::vector<std::string>& arguments, const Worker& worker) {
  const TrainRequest request = parse_train_request(arguments);
  if (is_launched_rank(request)) {
    std::vector<std::string> command = {worker.path, "train"};
    command.insert(command.end(), request.arguments.begin(), request.arguments.end());
    become(command);
  }
  return launch_ranks(worker, request);
}

Outcome run(const std::vector<std::string>& arguments, const Worker& worker) {
  if (arguments.empty()) {
    std::cerr << usage_text();
    return {static_cast<int>(ExitCode::kUsage), ""};
  }
  const std::string& command = arguments[0];
  std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (command == "version" || command == "--version") return print(version_text() + "\n");
  if (is_help_flag(command) || (command == "help" && rest.empty())) return print(usage_text());
  if (command == "help" && rest.size() == 1 && rest[0] == "build") return print(build_info_text(build_info()));
  const auto help = std::find_if(rest.begin(), rest.end(), is_help_flag);
  if (command == "generate" && help != rest.end()) return launch_command(worker, "help", {command});
  if (command == "help" || command == "plugin" || command == "generate" || command == "plan")
    return launch_command(worker, command, rest);
  if (command == "verify-parallelism") {
    return help == rest.end() ? verify_parallelism(worker, rest) : print(usage_text());
  }
  if (command != "train") throw ConfigError(unknown_command_text(command));
  if (help == rest.end()) return train(rest, worker);
  rest.erase(help);
  return launch_command(worker, "help", parse_train_request(rest).arguments);
}

}  // namespace

int run_program(const std::vector<std::string>& arguments, const Worker& worker) {
  Outcome outcome;
  try {
    outcome = run(arguments, worker);
  } catch (const Error& error) {
    outcome = {static_cast<int>(error.code()), error.what()};
  }
  if (!outcome.message.empty()) std::cerr << "slipway: " << outcome.message << "\n" << std::flush;
  return outcome.exit_code;
}

}  // namespace slipway
