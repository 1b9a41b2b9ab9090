// Megatron's log line: numbers of an interval of steps, averaged over those whose update was applied. Values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace slipway {

// What one step adds.
struct StepNumbers {
  std::map<std::string, double> losses;
  double learning_rate = 0, grad_norm = 0, loss_scale = 1;
  bool skipped = false;
  int64_t consumed_samples = 0, global_batch = 0, tokens = 0;
  double seconds = 0;
};

class LogInterval {
 public:
  void add(const StepNumbers& step);
  int64_t steps() const { return steps_; }

  // " iteration        7/     100 | consumed samples: ... |": the fields and widths that Megatron writes, with tokens
  // per second after the time per iteration. A loss has no field when every step was skipped; iterations whose loss was
  // no finite number are counted last. REQUIRES: steps() > 0.
  std::string line(int64_t iteration, int64_t train_iters) const;

 private:
  StepNumbers last_;
  std::map<std::string, double> loss_sums_;
  int64_t steps_ = 0, applied_ = 0, not_finite_ = 0, tokens_ = 0;
  double seconds_ = 0;
};

}  // namespace slipway
