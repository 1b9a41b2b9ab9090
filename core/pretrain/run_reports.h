// What a run says of itself: metrics.jsonl with every step and evaluation; a log line at each interval; on a terminal
// one live line instead, and the log lines in the log's file only. Made on rank 0, one driver thread.
#pragma once

#include <memory>

#include "core/metrics/log_line.h"
#include "core/metrics/metrics_file.h"
#include "core/pretrain/evaluate.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/train_step.h"
#include "core/pretrain/training.h"

namespace slipway {

class RunReports {
 public:
  // metrics.jsonl is cut to `restored`, where the run goes on.
  RunReports(const Runtime& runtime, const Progress& restored);
  ~RunReports();

  // After a step: `training.progress` counts it already.
  void step(const Training& training, const StepResult& result, double seconds);
  // `is_final`: after training.
  void evaluation(const Training& training, const EvalResult& result, bool is_final);
  // Nothing of metrics.jsonl is lost from here on, whatever happens to the machine.
  void sync();
  // The live line goes; before something else is shown, and at the end.
  void hide();

 private:
  void show(const Training& training);
  void log_interval(const Training& training);

  const Runtime& runtime_;
  std::unique_ptr<MetricsFile> file_;  // nullptr: the run writes nothing
  LogInterval interval_;
  LiveLine live_;
  int64_t planned_steps_;
  double shown_at_ = 0;
};

}  // namespace slipway
