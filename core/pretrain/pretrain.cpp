#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

// What the steps return; destroyed from the bottom up.
struct Run {
  std::unique_ptr<Runtime> runtime;
  std::unique_ptr<Training> training;
  std::unique_ptr<Iterators> iterators;
};

Summary run_steps(const RunPlan& plan, const LaunchContext& context, Run& run) {
  context.enter("initialize");
  run.runtime = initialize(plan, context);
  context.enter("setup_model_and_optimizer");
  run.training = setup_model_and_optimizer(*run.runtime);
  context.enter("build_iterators");
  run.iterators = build_iterators(*run.runtime, *run.training);
  context.enter("train");
  const Summary summary = train(*run.runtime, *run.training, *run.iterators);
  context.enter("finalize");
  return finalize(std::move(run.runtime), std::move(run.training), std::move(run.iterators), summary);
}

}  // namespace

Summary pretrain(const RunPlan& plan, const LaunchContext& context) {
  Run run;
  try {
    return run_steps(plan, context, run);
  } catch (const std::exception& error) {
    context.fail(error);
    throw;
  }
}

}  // namespace slipway
