// The schedule of a run: which order its options ask for, checked before anything is built. Pure functions.
#pragma once

#include "core/parallel/schedule/schedule.h"
#include "core/pretrain/config.h"

namespace slipway {

// The order of forwards and backwards of a training step with `num_microbatches` per data parallel rank. Throws
// ConfigError with the rule and the numbers when there is none, or when the file of pipeline_schedule is not one.
Schedule training_schedule(const ParallelConfig& parallel, int chunks_per_rank, int64_t num_microbatches);

// Throws as training_schedule for any number of microbatches that the run will use.
void check_schedules(const ParallelConfig& parallel, int chunks_per_rank, const BatchConfig& batches);

}  // namespace slipway
