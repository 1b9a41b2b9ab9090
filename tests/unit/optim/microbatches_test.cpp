#include "core/optim/microbatches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"

namespace slipway {
namespace {

using testing::HasSubstr;

std::string message_for(const BatchConfig& config) {
  try {
    check_batches(config);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

BatchConfig constant(std::int64_t global_batch, std::int64_t micro_batch, std::int64_t data_parallel) {
  return {global_batch, micro_batch, data_parallel, std::nullopt, false};
}

TEST(Microbatches, ConstantBatchDivides) {
  const BatchConfig config = constant(96, 4, 8);
  check_batches(config);
  EXPECT_EQ(step_batch(config, 0).num_microbatches, 3);
  EXPECT_EQ(step_batch(config, 1'000'000).global_batch, 96);
}

TEST(Microbatches, ABatchThatDoesNotDivideIsRefusedWithTheNearest) {
  EXPECT_EQ(message_for(constant(100, 4, 8)),
            "global batch 100 is not a multiple of micro batch 4 x data-parallel 8 = 32; nearest 96 or 128");
  EXPECT_THAT(message_for(constant(10, 4, 8)), HasSubstr("nearest 32"));
  EXPECT_THAT(message_for(constant(0, 4, 8)), HasSubstr("global batch is 0; give 1 or more"));
  EXPECT_THAT(message_for(constant(8, 0, 8)), HasSubstr("micro batch is 0"));
  EXPECT_THAT(message_for(constant(8, 8, -1)), HasSubstr("data-parallel size is -1"));
  EXPECT_THAT(message_for(constant(8, std::numeric_limits<std::int64_t>::max(), 8)), HasSubstr("too large"));
}

TEST(Microbatches, ItMayBeDecreasedWhenAsked) {
  BatchConfig config = constant(100, 4, 8);
  config.decrease_if_needed = true;
  check_batches(config);
  EXPECT_EQ(step_batch(config, 0).global_batch, 96);
  EXPECT_EQ(step_batch(config, 0).num_microbatches, 3);
  config.global_batch = 31;
  EXPECT_THAT(message_for(config), HasSubstr("cannot be decreased"));
}

TEST(Microbatches, RampupGrowsAtEvenDistances) {
  BatchConfig config = constant(64, 4, 4);
  config.rampup = {16, 16, 3000};
  check_batches(config);
  EXPECT_EQ(step_batch(config, 0).global_batch, 16);
  EXPECT_EQ(step_batch(config, 999).global_batch, 16);
  EXPECT_EQ(step_batch(config, 1000).global_batch, 32);
  EXPECT_EQ(step_batch(config, 2000).num_microbatches, 3);
  EXPECT_EQ(step_batch(config, 3000).global_batch, 64);
  EXPECT_EQ(step_batch(config, 3001).global_batch, 64);
}

TEST(Microbatches, ABadRampupIsRefusedWithTheNumbers) {
  BatchConfig config = constant(64, 4, 4);
  config.rampup = {16, 20, 3000};
  EXPECT_THAT(message_for(config), HasSubstr("increment 20 apart; the difference is 48, nearest 40 or 60"));
  config.rampup = {16, 8, 3000};
  EXPECT_THAT(message_for(config), HasSubstr("ramp-up: global batch 24 is not a multiple of"));
  config.rampup = {64, 8, 3000};
  EXPECT_THAT(message_for(config), HasSubstr("not below the global batch 64"));
  config.rampup = {16, 16, 0};
  EXPECT_THAT(message_for(config), HasSubstr("length in samples of the batch size ramp-up is 0"));
}

}  // namespace
}  // namespace slipway
