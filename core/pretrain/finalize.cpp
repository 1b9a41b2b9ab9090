#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/evaluate.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/run_reports.h"

namespace slipway {
namespace {

std::string ending(const Summary& summary) {
  switch (summary.reason) {
    case ExitReason::kFinished:
      return "done: ";
    case ExitReason::kSignal:
      return "stopped by a signal after ";
    case ExitReason::kDuration:
      return "exit_duration_in_mins is over after ";
    case ExitReason::kInterval:
      return "exit_interval is reached after ";
  }
  SLW_CHECK(false);
}

void report(Runtime& runtime, const Summary& summary) {
  if (!runtime.is_first_rank()) return;
  const bool exists = runtime.folder.exists();
  const bool goes_on = summary.reason != ExitReason::kFinished && exists && runtime.config().checkpoint.save;
  runtime.context.log->info(ending(summary) + std::to_string(summary.step) + " steps" +
                            (exists ? "; results in " + runtime.folder.root : "") +
                            (goes_on ? "; --resume goes on from here" : ""));
}

}  // namespace

Summary finalize(std::unique_ptr<Runtime>&& runtime, std::unique_ptr<Training>&& training,
                 std::unique_ptr<Iterators>&& iterators, Summary summary) {
  if (runtime->reports) runtime->reports->hide();
  if (summary.step != summary.saved_step) save_checkpoint(*runtime, *training, *iterators);
  if (summary.reason == ExitReason::kFinished && !evaluate_finally(*runtime, *training, *iterators)) {
    summary.reason = ExitReason::kSignal;
  }
  if (summary.reason == ExitReason::kSignal) summary.exit_code = ExitCode::kStoppedBySignal;
  report(*runtime, summary);
  training->dp->finish_gather();
  // All work of all ranks is over before anybody leaves a group.
  runtime->comm->core().barrier();
  iterators.reset();
  training.reset();
  runtime.reset();
  return summary;
}

}  // namespace slipway
