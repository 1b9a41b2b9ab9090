// What a run says of itself while it trains: metrics.jsonl with every step, and a log line at each interval. Rank 0
// only; on other ranks every call does nothing.
#pragma once

#include <memory>

#include "core/pretrain/runtime.h"
#include "core/pretrain/train_step.h"
#include "core/pretrain/training.h"

namespace slipway {

class RunReports {
 public:
  // `restored_step`: metrics.jsonl is cut to it; 0 for a new run.
  RunReports(Runtime& runtime, int64_t restored_step);
  ~RunReports();

  // After a step: `training.progress` counts it already.
  void step(const Training& training, const StepResult& result, double seconds);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace slipway
