#include "core/base/timer.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/run_reports.h"
#include "core/pretrain/train_step.h"

namespace slipway {
namespace {

bool is_due(int64_t interval, int64_t step) { return interval > 0 && step % interval == 0; }

}  // namespace

Summary train(Runtime& runtime, Training& training, Iterators& iterators) {
  const Config& config = runtime.config();
  open_run_folder(runtime);
  RunReports reports(runtime, training.progress.step);
  Summary summary;
  while (training.progress.consumed_samples < config.train.total_samples()) {
    const Timer timer;
    const StepResult result = train_step(runtime, training, iterators);
    reports.step(training, result, timer.seconds());
    if (is_due(config.checkpoint.save_interval, training.progress.step)) {
      save_checkpoint(runtime, training, iterators);
    }
    summary.loss = result.loss;
  }
  summary.step = training.progress.step;
  return summary;
}

}  // namespace slipway
