// Learning rate, weight decay and batch size ramp-up against Megatron-core's own numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "core/optim/microbatches.h"
#include "core/optim/schedule.h"
#include "tests/support/golden_values.h"

namespace slipway {
namespace {

using nlohmann::json;

// Values read from a JSON object by key; a key that is not in the table fails the test.
using Setters = std::map<std::string, std::function<void(const json&)>>;

void set_all(const json& object, const Setters& setters) {
  for (const auto& [key, value] : object.items()) {
    const auto setter = setters.find(key);
    ASSERT_NE(setter, setters.end()) << "the golden case has a key that this test does not know: " << key;
    setter->second(value);
  }
}

ScheduleConfig schedule_of(const json& kwargs) {
  ScheduleConfig config;
  set_all(
      kwargs,
      {{"init_lr", [&](const json& value) { config.init_lr = value; }},
       {"max_lr", [&](const json& value) { config.max_lr = value; }},
       {"min_lr", [&](const json& value) { config.min_lr = value; }},
       {"lr_warmup_steps", [&](const json& value) { config.warmup_samples = value; }},
       {"lr_decay_steps", [&](const json& value) { config.decay_samples = value; }},
       {"lr_decay_style", [&](const json& value) { config.lr_style = lr_decay_style(value.get<std::string>()); }},
       {"lr_wsd_decay_style", [&](const json& value) { config.wsd_style = wsd_decay_style(value.get<std::string>()); }},
       {"wsd_decay_steps", [&](const json& value) { config.wsd_decay_samples = value; }},
       {"start_wd", [&](const json& value) { config.start_wd = value; }},
       {"end_wd", [&](const json& value) { config.end_wd = value; }},
       {"wd_incr_steps", [&](const json& value) { config.wd_incr_samples = value; }},
       {"wd_incr_style", [&](const json& value) { config.wd_style = wd_incr_style(value.get<std::string>()); }}});
  return config;
}

// "lr" and "weight_decay" are what the group had after the last row, not settings.
GroupSchedule group_of(const json& overrides) {
  GroupSchedule group;
  if (overrides.is_null()) return group;
  set_all(overrides, {{"max_lr", [&](const json& value) { group.max_lr = value.get<double>(); }},
                      {"min_lr", [&](const json& value) { group.min_lr = value.get<double>(); }},
                      {"lr_mult", [&](const json& value) { group.lr_mult = value; }},
                      {"wd_mult", [&](const json& value) { group.wd_mult = value; }},
                      {"lr", [](const json&) {}},
                      {"weight_decay", [](const json&) {}}});
  return group;
}

void expect_equal(double actual, double expected) { EXPECT_LE(std::abs(actual - expected), 1e-15 * expected); }

TEST(GoldenSchedule, LearningRateAndWeightDecayOfEveryRow) {
  std::size_t rows = 0;
  const json file = golden::read_json(golden::folder() / "schedule" / "lr_wd.json");
  for (const json& golden : file.at("cases")) {
    const ScheduleConfig config = schedule_of(golden.at("kwargs"));
    const GroupSchedule group = group_of(golden.at("group_override"));
    check_schedule(config);
    for (const json& row : golden.at("rows_num_steps_lr_wd")) {
      SCOPED_TRACE(golden.at("name").get<std::string>() + " at " + row.at(0).dump());
      expect_equal(learning_rate(config, row.at(0), group), row.at(1));
      expect_equal(weight_decay(config, row.at(0), group), row.at(2));
      ++rows;
    }
  }
  EXPECT_GE(rows, 300U);
}

TEST(GoldenSchedule, BatchSizeRampup) {
  const json file = golden::read_json(golden::folder() / "schedule" / "rampup_microbatches.json");
  std::size_t rows = 0;
  for (const json& golden : file.at("cases")) {
    BatchConfig config;
    config.rampup.emplace();
    set_all(golden.at("config"), {{"gbs", [&](const json& value) { config.global_batch = value; }},
                                  {"mbs", [&](const json& value) { config.micro_batch = value; }},
                                  {"dp", [&](const json& value) { config.data_parallel = value; }},
                                  {"start", [&](const json& value) { config.rampup->start = value; }},
                                  {"inc", [&](const json& value) { config.rampup->increment = value; }},
                                  {"samples", [&](const json& value) { config.rampup->samples = value; }},
                                  {"consumed", [](const json&) {}}});
    check_batches(config);
    for (const json& row : golden.at("rows_consumed_gbs_nmb")) {
      const StepBatch batch = step_batch(config, row.at(0));
      EXPECT_EQ(batch.global_batch, row.at(1).get<std::int64_t>()) << golden.at("config") << row;
      EXPECT_EQ(batch.num_microbatches, row.at(2).get<std::int64_t>()) << golden.at("config") << row;
      ++rows;
    }
  }
  EXPECT_GE(rows, 19U);
}

}  // namespace
}  // namespace slipway
