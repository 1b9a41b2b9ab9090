// Losses and metrics of a step, the same on every rank. The last pipeline stage knows them; it reduces over its
// data-parallel ranks and tells the others.
#pragma once

#include "core/parallel/step_runner.h"
#include "core/pretrain/train_step.h"

namespace slipway {

// What the step's losses are divided by, counted where the labels are. [collective: dp_cp, pp]
StepHeader make_header(Runtime& runtime, const Training& training, const std::vector<Microbatch>& microbatches);

struct LossInputs {
  const StepHeader& header;  // reduced
  const LossSums& sums;      // of this rank's microbatches
  LossNormalization normalization;
};
// Fills losses, loss and metrics of `result` with values over all ranks. [collective: dp_cp, pp]
void reduce_losses(Runtime& runtime, Training& training, const LossInputs& inputs, StepResult& result);

}  // namespace slipway
