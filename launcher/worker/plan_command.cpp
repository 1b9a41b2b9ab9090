#include <charconv>
#include <iostream>

#include "core/base/strings.h"
#include "core/planner/layout_plan.h"
#include "core/pretrain/plan_run.h"
#include "launcher/worker/commands.h"

namespace slipway {
namespace {

struct Asked {
  int world_size = 1;
  bool as_json = false;
  Arguments rest;  // of the run
};

int world_size_of(const std::string& text) {
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  constexpr int kMost = 1 << 20;
  if (error == std::errc() && end == text.data() + text.size() && size >= 1 && size <= kMost) return size;
  throw ConfigError("command line: --world-size is " + in_quotes(text) + "; allowed: 1 to " + std::to_string(kMost));
}

Asked read_arguments(const Arguments& arguments) {
  Asked asked;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string name = replace_char(arguments[i].substr(0, arguments[i].find('=')), '_', '-');
    if (name == "--json") {
      asked.as_json = true;
    } else if (name == "--world-size" && arguments[i].size() > name.size()) {
      asked.world_size = world_size_of(arguments[i].substr(name.size() + 1));
    } else if (name == "--world-size") {
      if (i + 1 == arguments.size()) throw ConfigError("command line: --world-size needs a value: the number of ranks");
      asked.world_size = world_size_of(arguments[++i]);
    } else {
      asked.rest.push_back(arguments[i]);
    }
  }
  return asked;
}

}  // namespace

ExitCode plan_command(const Arguments& arguments, const CommandContext& context) {
  const Asked asked = read_arguments(arguments);
  const RunPlan run = plan_run(asked.rest, {asked.world_size, 1}, context.reporter);
  const LayoutPlan plan = make_layout_plan(run, asked.world_size);
  std::cout << (asked.as_json ? layout_plan_json(plan) + "\n" : layout_plan_text(plan));
  return ExitCode::kDone;
}

}  // namespace slipway
