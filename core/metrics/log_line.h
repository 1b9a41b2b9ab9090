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
  double flops_per_rank = 0;  // 0: the model does not say
};

class LogInterval {
 public:
  void add(const StepNumbers& step);
  int64_t steps() const { return steps_; }

  // " iteration        7/     100 | consumed samples: ... |": the fields and widths that Megatron writes, with tokens
  // per second after the throughput. A model that does not tell its cost has no throughput. A loss has no field when
  // every step was skipped; iterations whose loss was no finite number are counted last. REQUIRES: steps() > 0.
  std::string line(int64_t iteration, int64_t train_iters) const;

 private:
  StepNumbers last_;
  std::map<std::string, double> loss_sums_;
  int64_t steps_ = 0, applied_ = 0, not_finite_ = 0, tokens_ = 0;
  double seconds_ = 0, flops_per_rank_ = 0;
};

// What a terminal shows: one line of the newest step, with speed and time left.
class LiveLine {
 public:
  void add(const StepNumbers& step);
  // "step 120 of 550 | 1 m 23 s left | lm loss 2.0473 | 20468 tokens/s | lr 1.75E-03 | grad norm 0.834".
  // REQUIRES: add() was called.
  std::string text(int64_t iteration, int64_t train_iters, int64_t samples_left) const;

 private:
  StepNumbers last_;
  double tokens_ = 0, samples_ = 0, seconds_ = 0;  // of the latest steps, older ones fade
  int64_t skipped_ = 0;
};

// Megatron's line of an evaluation: " validation loss at iteration 100 on validation set | lm loss value: 2.047339E+00
// | lm loss PPL: 7.746000E+00 |".
std::string evaluation_line(int64_t iteration, const std::string& split, const std::map<std::string, double>& losses);

// exp(min(20, loss)).
double perplexity(double loss);

}  // namespace slipway
