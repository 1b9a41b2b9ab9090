#include "core/base/log.h"
#include "core/comm/cpu_memory.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "launcher/worker/commands.h"
#include "launcher/worker/failure.h"
#include "launcher/worker/stop_signals.h"

namespace slipway {

ExitCode train_command(const Arguments& arguments, const CommandContext& context) {
  const auto trace = std::make_shared<CollectiveTrace>();
  StopSignals stop([&] { context.reporter.trace(trace->state()); });
  const RankEnvironment rank = rank_environment();
  context.phase = "configuration";
  const RunPlan plan = plan_run(arguments, {rank.world_size, rank.local_world_size}, context.reporter);
  // The launcher marks the lines of ranks itself.
  const bool names_rank = rank.world_size > 1 && !context.reporter.connected();
  Log log(LogLevel::kInfo, names_rank ? "rank " + std::to_string(rank.rank) : "");
  if (rank.rank == 0 && plan.output_dir.empty())
    log.warning("no --output-dir: this run writes no metrics or checkpoints");
  if (plan.config.train.cpu_memory_pool) use_memory_pool();
  RankFailure failure(rank.world_size > 1 ? "rank " + std::to_string(rank.rank) : "", context.reporter, log, trace);
  LaunchContext launch;
  launch.rank = rank;
  launch.log = &log;
  launch.stop = &stop.requested();
  launch.on_step = [&](const char* step) {
    context.phase = step;
    trace->enter(step);
    if (context.phase == "train") stop.training_begins();
  };
  launch.watch = {trace, [&](const CommError& error) { failure.end_process(error); }};
  launch.on_failure = [&](const std::exception& error) { failure.end_process(error); };
  return pretrain(plan, launch).exit_code;
}

}  // namespace slipway
