#include "core/optim/microbatches.h"

#include <string>

#include "core/base/error.h"

namespace slipway {
namespace {

void require(bool condition, const std::string& message) {
  if (!condition) throw ConfigError(message);
}

void require_positive(const char* name, std::int64_t value) {
  require(value > 0, std::string(name) + " is " + std::to_string(value) + "; give 1 or more");
}

// Samples of one microbatch over all data-parallel ranks.
std::int64_t unit_of(const BatchConfig& config) { return config.micro_batch * config.data_parallel; }

std::string product_text(const BatchConfig& config) {
  return "micro batch " + std::to_string(config.micro_batch) + " x data-parallel " +
         std::to_string(config.data_parallel) + " = " + std::to_string(unit_of(config));
}

// "nearest 96 or 128"
std::string nearest_text(std::int64_t batch, std::int64_t unit) {
  const std::int64_t below = batch / unit * unit;
  const std::string above = std::to_string(below + unit);
  return "nearest " + (below > 0 ? std::to_string(below) + " or " + above : above);
}

void check_divides(const BatchConfig& config, const std::string& what, std::int64_t batch) {
  const std::int64_t unit = unit_of(config);
  if (batch % unit == 0) return;
  const std::string numbers =
      what + " " + std::to_string(batch) + " is not a multiple of " + product_text(config) + "; ";
  require(config.decrease_if_needed, numbers + nearest_text(batch, unit));
  require(batch >= unit, numbers + "it cannot be decreased to one; nearest " + std::to_string(unit));
}

void check_rampup(const BatchConfig& config) {
  const BatchRampup& rampup = *config.rampup;
  require_positive("the start of the batch size ramp-up", rampup.start);
  require_positive("the increment of the batch size ramp-up", rampup.increment);
  require_positive("the length in samples of the batch size ramp-up", rampup.samples);
  const std::int64_t growth = config.global_batch - rampup.start;
  require(growth > 0, "the batch size ramp-up starts at " + std::to_string(rampup.start) +
                          ", which is not below the global batch " + std::to_string(config.global_batch) +
                          "; give a smaller start, or no ramp-up");
  require(growth % rampup.increment == 0, "the batch size ramp-up goes from " + std::to_string(rampup.start) + " to " +
                                              std::to_string(config.global_batch) +
                                              ", which is not a multiple of its increment " +
                                              std::to_string(rampup.increment) + " apart; the difference is " +
                                              std::to_string(growth) + ", " + nearest_text(growth, rampup.increment));
  for (std::int64_t batch = rampup.start; batch < config.global_batch; batch += rampup.increment) {
    check_divides(config, "batch size ramp-up: global batch", batch);
  }
}

std::int64_t wanted_batch(const BatchConfig& config, std::int64_t consumed_samples) {
  if (!config.rampup || consumed_samples > config.rampup->samples) return config.global_batch;
  const BatchRampup& rampup = *config.rampup;
  const std::int64_t num_increments = (config.global_batch - rampup.start) / rampup.increment;
  // In floating point, as Megatron computes it: the steps change at the same samples.
  const double per_increment = static_cast<double>(rampup.samples) / static_cast<double>(num_increments);
  const auto increments = static_cast<std::int64_t>(static_cast<double>(consumed_samples) / per_increment);
  return rampup.start + increments * rampup.increment;
}

}  // namespace

void check_batches(const BatchConfig& config) {
  require_positive("the micro batch", config.micro_batch);
  require_positive("the data-parallel size", config.data_parallel);
  require_positive("the global batch", config.global_batch);
  std::int64_t unit = 0;
  require(!__builtin_mul_overflow(config.micro_batch, config.data_parallel, &unit),
          "micro batch " + std::to_string(config.micro_batch) + " x data-parallel " +
              std::to_string(config.data_parallel) + " is too large; give a smaller micro batch");
  check_divides(config, "global batch", config.global_batch);
  if (config.rampup) check_rampup(config);
}

StepBatch step_batch(const BatchConfig& config, std::int64_t consumed_samples) {
  const std::int64_t num_microbatches = wanted_batch(config, consumed_samples) / unit_of(config);
  return {num_microbatches * unit_of(config), num_microbatches};
}

}  // namespace slipway
