// One optimizer step, and what it gives to the log.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/pretrain/iterators.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

struct StepResult {
  double loss = 0.0;                                   // weighted sum of the losses that are trained on
  std::map<std::string, double> losses;                // each by its name
  std::map<std::string, std::vector<double>> metrics;  // deposited by plugins
  double learning_rate = 0.0;                          // of this step's update
  double weight_decay = 0.0;
  double grad_norm = 0.0;  // before clipping; not finite when the step was skipped
  bool skipped = false;
  int64_t global_batch = 0;
  int64_t tokens = 0;
  double data_wait_seconds = 0.0;
  double flops_per_rank = 0.0;  // forward and backward; 0: the model does not say
};

// Batches as the model sees them.
std::vector<Microbatch> as_microbatches(const std::vector<const HostBatch*>& batches, int64_t seq_length);

// Whether training goes on.
bool has_next_step(const Runtime& runtime, const Training& training);

// Reads the step's microbatches, runs forward and backward, reduces, clips and updates; advances training.progress.
// [collective: world]
StepResult train_step(Runtime& runtime, Training& training, Iterators& iterators);

}  // namespace slipway
