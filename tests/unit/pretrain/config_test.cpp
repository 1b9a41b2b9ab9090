#include "core/pretrain/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace slipway {
namespace {

TrainConfig resolved(TrainConfig config) {
  config.resolve(2, 1);
  return config;
}

TrainConfig ten_steps() {
  TrainConfig config;
  config.train_iters = 10;
  config.micro_batch_size = 3;
  return config;
}

TEST(TrainConfig, TheGlobalBatchDefaultsToOneMicrobatchARank) {
  const TrainConfig config = resolved(ten_steps());
  EXPECT_EQ(config.global_batch_size, 6);
  EXPECT_EQ(config.total_samples(), 60);
  EXPECT_GE(config.cpu_threads, 1);
}

TEST(TrainConfig, ScheduleLengthsMayBeStepsSamplesOrAFraction) {
  TrainConfig config = ten_steps();
  config.lr_decay_iters = 8;
  config.lr_warmup_fraction = 0.25;
  EXPECT_EQ(resolved(config).schedule().decay_samples, 48);
  EXPECT_EQ(resolved(config).schedule().warmup_samples, 12);
  config.lr_warmup_fraction.reset();
  config.lr_warmup_samples = 7;
  EXPECT_EQ(resolved(config).schedule().warmup_samples, 7);
}

TEST(TrainConfig, OnlyWholeBatchesAreTrained) {
  EXPECT_EQ(resolved(ten_steps()).length().steps, 10);
  TrainConfig config = ten_steps();
  config.train_iters.reset();
  config.train_samples = 20;  // batches of 6
  const TrainConfig train = resolved(config);
  EXPECT_EQ(train.length().steps, 3);
  EXPECT_EQ(train.length().samples, 18);
  EXPECT_TRUE(train.next_batch(train.batches(2), 12));
  EXPECT_FALSE(train.next_batch(train.batches(2), 18));
}

TEST(TrainConfig, StepsAreCountedThroughARampUp) {
  for (const int64_t samples : {5, 12, 30, 41, 100, 101, 123}) {
    TrainConfig config = ten_steps();
    config.train_iters.reset();
    config.train_samples = samples;
    config.global_batch_size = 24;
    config.rampup_batch_size = {12, 6, 40};  // steps of 12 until 20 samples, of 18 until 40, then of 24
    const TrainConfig train = resolved(config);
    TrainConfig::Length expected;
    while (const auto batch = train.next_batch(train.batches(2), expected.samples)) {
      expected.steps += 1;
      expected.samples += batch->global_batch;
    }
    EXPECT_EQ(train.length().steps, expected.steps) << samples;
    EXPECT_EQ(train.length().samples, expected.samples) << samples;
  }
}

TEST(TrainConfig, EvaluationIsOffUntilAskedFor) {
  EXPECT_EQ(resolved(ten_steps()).eval.eval_iters, 0);
  TrainConfig config = ten_steps();
  config.eval.eval_interval = 5;
  EXPECT_EQ(resolved(config).eval.eval_iters, 100);
  config.eval.eval_iters = 0;
  EXPECT_THROW(resolved(config), ConfigError);
}

TEST(TrainConfig, RefusesOptionsThatSayTheSameThing) {
  TrainConfig config = ten_steps();
  config.train_samples = 5;
  EXPECT_THROW(resolved(config), ConfigError);
  config = ten_steps();
  config.lr_warmup_iters = 1;
  config.lr_warmup_fraction = 0.1;
  EXPECT_THROW(resolved(config), ConfigError);
}

TEST(TrainConfig, WantsALength) { EXPECT_THROW(resolved(TrainConfig{}), ConfigError); }

TEST(DataConfig, SplitsByWeight) {
  DataConfig config;
  EXPECT_THAT(config.split_bounds(),
              testing::ElementsAre(0.0, testing::DoubleNear(0.969, 1e-12), testing::DoubleNear(0.999, 1e-12), 1.0));
  config.split = "1";
  EXPECT_THAT(config.split_bounds(), testing::ElementsAre(0.0, 1.0, 1.0, 1.0));
  for (const char* bad : {"", "a,b", "1,2,3,4", "0,0,0", "-1,2", "1,,1", "nan"}) {
    config.split = bad;
    EXPECT_THROW(config.split_bounds(), ConfigError) << bad;
  }
}

}  // namespace
}  // namespace slipway
