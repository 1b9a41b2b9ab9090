// Losses and metrics of a step, reduced over the data-parallel ranks. [collective: dp_cp]
#pragma once

#include "core/parallel/forward_backward.h"
#include "core/pretrain/train_step.h"

namespace slipway {

// Sums the header's totals over the group.
void reduce_header(Group& group, StepHeader& header);

struct LossInputs {
  const StepHeader& header;  // reduced
  const LossSums& sums;      // of this rank's microbatches
  LossNormalization normalization;
};
// Fills losses, loss and metrics of `result` with values over all ranks.
void reduce_losses(Runtime& runtime, Training& training, const LossInputs& inputs, StepResult& result);

}  // namespace slipway
