#include "core/base/timer.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/evaluate.h"
#include "core/pretrain/memory_report.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/run_reports.h"
#include "core/pretrain/train_step.h"

namespace slipway {
namespace {

bool is_due(int64_t interval, int64_t step) { return interval > 0 && step % interval == 0; }

// Whether to end after this step; one rank's wish is everybody's. [collective: world]
ExitReason exit_reason(Runtime& runtime, int64_t step) {
  const ExitConfig& exit = runtime.config().train.exit;
  const double minutes = runtime.since_start.seconds() / 60;
  std::vector<double> votes{runtime.context.wants_stop() ? 1.0 : 0.0,
                            exit.exit_duration_in_mins && minutes >= *exit.exit_duration_in_mins ? 1.0 : 0.0};
  all_reduce(runtime.comm->core(), votes, SLW_MAX);
  if (votes[0] > 0) return ExitReason::kSignal;
  if (votes[1] > 0) return ExitReason::kDuration;
  return is_due(exit.exit_interval, step) ? ExitReason::kInterval : ExitReason::kFinished;
}

void one_step(Runtime& runtime, Training& training, Iterators& iterators, Summary& summary) {
  const Timer timer;
  const StepResult result = train_step(runtime, training, iterators);
  if (runtime.reports) runtime.reports->step(training, result, timer.seconds());
  summary.step = training.progress.step;
  summary.loss = result.loss;
}

}  // namespace

Summary train(Runtime& runtime, Training& training, Iterators& iterators) {
  const Config& config = runtime.config();
  const Progress& progress = training.progress;
  open_run_folder(runtime, progress);
  Summary summary;
  summary.step = summary.saved_step = progress.step;
  if (runtime.plan.skip_train) return summary;
  if (config.checkpoint.save_initial && progress.step == 0) save_checkpoint(runtime, training, iterators);
  begin_memory_count(runtime);
  if (progress.evaluation_due && iterators.valid.reader) {
    evaluate_validation(runtime, training, iterators);
    begin_memory_count(runtime);
    if (progress.evaluation_due) summary.reason = exit_reason(runtime, progress.step);
  }
  while (summary.reason == ExitReason::kFinished && has_next_step(runtime, training)) {
    one_step(runtime, training, iterators, summary);
    if (is_due(config.train.eval.eval_interval, progress.step)) evaluate_validation(runtime, training, iterators);
    summary.reason = exit_reason(runtime, progress.step);
    if (summary.reason != ExitReason::kFinished || is_due(config.checkpoint.save_interval, progress.step)) {
      save_checkpoint(runtime, training, iterators);
      summary.saved_step = progress.step;
    }
  }
  if (summary.step > 0) report_memory(runtime, training, iterators);
  return summary;
}

}  // namespace slipway
