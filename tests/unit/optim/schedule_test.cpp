#include "core/optim/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "core/base/error.h"

namespace slipway {
namespace {

using testing::HasSubstr;

ScheduleConfig good_config() {
  ScheduleConfig config;
  config.max_lr = 1e-3;
  config.min_lr = 1e-4;
  config.warmup_samples = 100;
  config.decay_samples = 1000;
  config.wsd_decay_samples = 200;
  config.start_wd = config.end_wd = 0.1;
  return config;
}

std::string message_for(const std::function<void(ScheduleConfig&)>& change) {
  ScheduleConfig config = good_config();
  change(config);
  try {
    check_schedule(config);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

TEST(Schedule, ReferenceTable) {
  ScheduleConfig config = good_config();
  const auto rate = [&](LrDecayStyle style, std::int64_t samples) {
    config.lr_style = style;
    return learning_rate(config, samples);
  };
  EXPECT_EQ(rate(LrDecayStyle::kLinear, 0), 0.0);
  EXPECT_NEAR(rate(LrDecayStyle::kCosine, 101), 9.9999725845e-04, 1e-13);
  EXPECT_NEAR(rate(LrDecayStyle::kInverseSquareRoot, 1000), 3.1622776602e-04, 1e-13);
  EXPECT_EQ(rate(LrDecayStyle::kInverseSquareRoot, 1001), 1e-4);
  EXPECT_EQ(rate(LrDecayStyle::kConstant, 5000), 1e-3);
  EXPECT_NEAR(rate(LrDecayStyle::kWsd, 801), 9.9377247309e-04, 1e-13);
}

TEST(Schedule, GroupsScaleAndReplace) {
  const ScheduleConfig config = good_config();
  EXPECT_EQ(learning_rate(config, 100, {.max_lr = 2e-3, .min_lr = {}, .lr_mult = 0.5, .wd_mult = 1.0}), 1e-3);
  EXPECT_EQ(learning_rate(config, 2000, {.max_lr = {}, .min_lr = 3e-4, .lr_mult = 1.0, .wd_mult = 1.0}), 3e-4);
  EXPECT_EQ(weight_decay(config, 5, {.max_lr = {}, .min_lr = {}, .lr_mult = 1.0, .wd_mult = 0.0}), 0.0);
}

TEST(Schedule, BadValuesAreNamedWithWhatIsAllowed) {
  EXPECT_EQ(message_for([](ScheduleConfig&) {}), "");
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.max_lr = std::numeric_limits<double>::quiet_NaN(); }),
              HasSubstr("lr is nan"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.max_lr = -1; }), HasSubstr("lr is -1"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.min_lr = 2e-3; }),
              HasSubstr("min_lr is 0.002; it must lie between 0 and lr = 0.001"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.init_lr = 2e-3; }), HasSubstr("lr_warmup_init is 0.002"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.decay_samples = 0; }), HasSubstr("decay is 0 samples"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.warmup_samples = 1000; }), HasSubstr("warm-up is 1000 samples"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) {
                c.lr_style = LrDecayStyle::kWsd;
                c.wsd_decay_samples = 0;
              }),
              HasSubstr("final WSD decay is 0"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.end_wd = 0.2; }), HasSubstr("style is constant"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.end_wd = 0.01; }), HasSubstr("do not fall"));
  EXPECT_THAT(message_for([](ScheduleConfig& c) { c.wd_style = WdIncrStyle::kLinear; }), HasSubstr("over 0 samples"));
}

TEST(Schedule, AnUnknownStyleIsNamedWithTheNearest) {
  EXPECT_EQ(lr_decay_style("inverse-square-root"), LrDecayStyle::kInverseSquareRoot);
  EXPECT_EQ(wsd_decay_style("minus_sqrt"), WsdDecayStyle::kMinusSqrt);
  EXPECT_EQ(wd_incr_style("cosine"), WdIncrStyle::kCosine);
  try {
    lr_decay_style("cosin");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"cosine\""));
  }
}

}  // namespace
}  // namespace slipway
