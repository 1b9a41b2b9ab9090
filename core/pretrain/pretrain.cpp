#include "core/pretrain/pretrain.h"

namespace slipway {

Summary pretrain(const RunPlan& plan, const LaunchContext& context) {
  context.enter("initialize");
  auto runtime = initialize(plan, context);
  context.enter("setup_model_and_optimizer");
  auto training = setup_model_and_optimizer(*runtime);
  context.enter("build_iterators");
  auto iterators = build_iterators(*runtime, *training);
  context.enter("train");
  const Summary summary = train(*runtime, *training, *iterators);
  context.enter("finalize");
  return finalize(std::move(runtime), std::move(training), std::move(iterators), summary);
}

}  // namespace slipway
