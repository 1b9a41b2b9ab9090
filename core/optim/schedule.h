// Learning rate and weight decay as pure functions of the samples trained on: Megatron's OptimizerParamScheduler
// without its state. All step counts are in samples; a skipped step does not advance them. Plain values; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

enum class LrDecayStyle { kConstant, kLinear, kCosine, kInverseSquareRoot, kWsd };
enum class WsdDecayStyle { kLinear, kCosine, kExponential, kMinusSqrt };
enum class WdIncrStyle { kConstant, kLinear, kCosine };

struct ScheduleConfig {
  double init_lr = 0.0;  // at the start of the warm-up
  double max_lr = 0.0;
  double min_lr = 0.0;
  std::int64_t warmup_samples = 0;
  std::int64_t decay_samples = 0;  // where the decay ends, warm-up included
  LrDecayStyle lr_style = LrDecayStyle::kLinear;
  WsdDecayStyle wsd_style = WsdDecayStyle::kExponential;
  std::int64_t wsd_decay_samples = 0;  // length of the final decay; WSD only
  double start_wd = 0.0;
  double end_wd = 0.0;
  std::int64_t wd_incr_samples = 0;
  WdIncrStyle wd_style = WdIncrStyle::kConstant;
};

// What a parameter group has of its own.
struct GroupSchedule {
  std::optional<double> max_lr;
  std::optional<double> min_lr;
  double lr_mult = 1.0;
  double wd_mult = 1.0;
};

// Throws ConfigError naming the field, its value and what is allowed.
void check_schedule(const ScheduleConfig& config);

// The rate for the update that follows `num_samples` samples. REQUIRES: check_schedule(config) passes.
double learning_rate(const ScheduleConfig& config, std::int64_t num_samples, const GroupSchedule& group = {});

// The weight decay for that update. REQUIRES: check_schedule(config) passes.
double weight_decay(const ScheduleConfig& config, std::int64_t num_samples, const GroupSchedule& group = {});

// The styles by Megatron's names ("constant", "inverse-square-root", "WSD", "minus_sqrt" ...); another name is a
// ConfigError that lists them.
LrDecayStyle lr_decay_style(std::string_view name);
WsdDecayStyle wsd_decay_style(std::string_view name);
WdIncrStyle wd_incr_style(std::string_view name);

}  // namespace slipway
