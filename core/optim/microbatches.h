// How many microbatches make a step: constant, or growing with the samples consumed (batch size ramp-up). A pure
// function that every rank computes alike; plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>

namespace slipway {

// The global batch starts at `start` and grows by `increment` at even distances until `samples` are consumed.
struct BatchRampup {
  std::int64_t start = 0;
  std::int64_t increment = 0;
  std::int64_t samples = 0;
};

struct BatchConfig {
  std::int64_t global_batch = 0;
  std::int64_t micro_batch = 0;
  std::int64_t data_parallel = 1;
  std::optional<BatchRampup> rampup;
  bool decrease_if_needed = false;  // round a global batch that does not divide down instead of refusing it
};

struct StepBatch {
  std::int64_t global_batch = 0;  // samples that the step really takes
  std::int64_t num_microbatches = 0;
};

// Throws ConfigError, with the numbers and the nearest legal values, when some step would not divide.
void check_batches(const BatchConfig& config);

// The batch of the step that follows `consumed_samples`. REQUIRES: check_batches(config) passes.
StepBatch step_batch(const BatchConfig& config, std::int64_t consumed_samples);

}  // namespace slipway
