#include <iostream>

#include "core/base/log.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "launcher/worker/commands.h"

namespace slipway {

ExitCode train_command(const Arguments& arguments, const CommandContext& context) {
  const RankEnvironment rank = rank_environment();
  context.phase = "configuration";
  const RunPlan plan = plan_run(arguments, {rank.world_size, rank.local_world_size}, context.reporter);
  Log log(LogLevel::kInfo, rank.world_size > 1 ? "rank " + std::to_string(rank.rank) : "");
  LaunchContext launch;
  launch.rank = rank;
  launch.log = &log;
  launch.phase = &context.phase;
  return pretrain(plan, launch).exit_code;
}

}  // namespace slipway
