// The five steps of a run. Each takes what the step before returned, so the order cannot be got wrong, and nothing is
// global. All are called by every rank, and fail on every rank alike where the mistake can be seen from the
// configuration.
#pragma once

#include "core/pretrain/iterators.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

// Why the loop ended.
enum class ExitReason { kFinished, kSignal, kDuration, kInterval };

// How a run ended.
struct Summary {
  int64_t step = 0;        // steps done
  int64_t saved_step = 0;  // of the newest checkpoint
  double loss = 0.0;       // of the newest step
  ExitReason reason = ExitReason::kFinished;
  ExitCode exit_code = ExitCode::kDone;
};

// 1. Configuration checked against the world, groups made, run folder prepared. [collective: world]
std::unique_ptr<Runtime> initialize(const RunPlan& plan, const LaunchContext& context);
// 2. Model, parameters, optimizer; the newest checkpoint when resuming. [collective: world]
std::unique_ptr<Training> setup_model_and_optimizer(Runtime& runtime);
// 3. Data at the restored position. [rank]
std::unique_ptr<Iterators> build_iterators(Runtime& runtime, const Training& training);
// 4. The loop; nothing but the run folder with --skip-train. [collective: world]
Summary train(Runtime& runtime, Training& training, Iterators& iterators);
// 5. Last checkpoint; after the last step validation and test; files closed, groups destroyed. What it throws leaves
// the three where they are. [collective: world]
Summary finalize(std::unique_ptr<Runtime>&& runtime, std::unique_ptr<Training>&& training,
                 std::unique_ptr<Iterators>&& iterators, Summary summary);

// All five. After an error context.on_failure has the word before anything that the steps returned is destroyed.
Summary pretrain(const RunPlan& plan, const LaunchContext& context);

}  // namespace slipway
