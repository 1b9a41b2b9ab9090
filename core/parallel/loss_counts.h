// What losses are divided by. The core counts on the host, before the first forward of a step, so that every
// microbatch's gradient already carries weight and denominator: sums over microbatches and ranks then need no further
// scale. Pure functions; any thread.
#pragma once

#include <slipway/model.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin_host/host_model.h"

namespace slipway {

// One microbatch as the model sees it. Pointers stay valid until the step is over.
struct Microbatch {
  const slw_batch* batch = nullptr;
  int64_t batch_size = 0, seq_length = 0;
  const int64_t* sample_ids = nullptr;  // [batch_size]
};

enum class LossNormalization {
  kToken,      // over everything the step reads: independent of the layout
  kMicrobatch  // mean of microbatch means, as Megatron
};

// "token" or "microbatch"; throws ConfigError for another name.
LossNormalization loss_normalization(const std::string& name);

// The header of a step: counts per loss, of each local microbatch and of all of them over dp x cp.
struct StepHeader {
  std::vector<std::vector<double>> counts;  // [microbatch][loss]
  std::vector<double> totals;               // [loss]; local until reduced over dp_cp
  double num_microbatches = 0;              // of all ranks, once reduced
};

// Local counts. Throws DataError when a batch lacks the field of a loss.
StepHeader count_losses(const std::vector<LossDeclaration>& losses, const std::vector<Microbatch>& microbatches);

// d total / d loss_sums[loss] of one microbatch, from a header reduced over dp x cp.
double loss_gradient(const StepHeader& header, const LossDeclaration& loss, size_t loss_index, size_t microbatch,
                     LossNormalization normalization);

}  // namespace slipway
