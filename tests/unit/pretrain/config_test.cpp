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
