#include "core/optim/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

using std::numbers::pi;

std::string number(double value) {
  std::array<char, 32> text{};
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

void require(bool condition, const std::string& message) {
  if (!condition) throw ConfigError(message);
}

template <class Style, std::size_t N>
Style style_of(std::string_view option, std::string_view name,
               const std::array<std::pair<std::string_view, Style>, N>& styles) {
  std::vector<std::string> names;
  for (const auto& [candidate, style] : styles) {
    if (candidate == name) return style;
    names.emplace_back(candidate);
  }
  throw ConfigError(std::string(option) + " has no style " + in_quotes(name) + suggestion(name, names));
}

// The part of max_lr - min_lr that is left after `ratio` of the decay.
double decay_coefficient(const ScheduleConfig& config, double ratio) {
  return config.lr_style == LrDecayStyle::kLinear ? 1.0 - ratio : 0.5 * (std::cos(pi * ratio) + 1.0);
}

double wsd_coefficient(const ScheduleConfig& config, std::int64_t num_samples) {
  const std::int64_t start = config.decay_samples - config.wsd_decay_samples;
  if (num_samples <= start) return 1.0;
  const double ratio = static_cast<double>(num_samples - start) / static_cast<double>(config.wsd_decay_samples);
  switch (config.wsd_style) {
    case WsdDecayStyle::kLinear:
      return 1.0 - ratio;
    case WsdDecayStyle::kCosine:
      return 0.5 * (std::cos(pi * ratio) + 1.0);
    case WsdDecayStyle::kExponential:
      return 2.0 * std::pow(0.5, ratio) - 1.0;
    case WsdDecayStyle::kMinusSqrt:
      return 1.0 - std::sqrt(ratio);
  }
  check_failed("wsd_style is one of WsdDecayStyle", __FILE__, __LINE__);
}

// The rate before lr_mult. The order of the branches is Megatron's: past the decay every style but constant is at
// min_lr, inverse-square-root too.
double base_rate(const ScheduleConfig& config, std::int64_t num_samples, double max_lr, double min_lr) {
  const auto samples = static_cast<double>(num_samples);
  const auto warmup = static_cast<double>(config.warmup_samples);
  if (config.warmup_samples > 0 && num_samples <= config.warmup_samples) {
    return config.init_lr + (max_lr - config.init_lr) * samples / warmup;
  }
  if (config.lr_style == LrDecayStyle::kConstant) return max_lr;
  if (num_samples > config.decay_samples) return min_lr;
  if (config.lr_style == LrDecayStyle::kInverseSquareRoot) {
    const double rate = max_lr * std::pow(std::max(warmup, 1.0), 0.5) / std::pow(std::max(samples, 1.0), 0.5);
    return std::max(min_lr, rate);
  }
  const double ratio = static_cast<double>(num_samples - config.warmup_samples) /
                       static_cast<double>(config.decay_samples - config.warmup_samples);
  const double coefficient =
      config.lr_style == LrDecayStyle::kWsd ? wsd_coefficient(config, num_samples) : decay_coefficient(config, ratio);
  return min_lr + coefficient * (max_lr - min_lr);
}

void check_rates(const ScheduleConfig& config) {
  require(std::isfinite(config.max_lr) && config.max_lr >= 0.0,
          "lr is " + number(config.max_lr) + "; give a finite number of 0 or more");
  require(config.min_lr >= 0.0 && config.min_lr <= config.max_lr,
          "min_lr is " + number(config.min_lr) + "; it must lie between 0 and lr = " + number(config.max_lr));
  require(config.init_lr >= 0.0 && config.init_lr <= config.max_lr,
          "lr_warmup_init is " + number(config.init_lr) + "; it must lie between 0 and lr = " + number(config.max_lr));
}

void check_lengths(const ScheduleConfig& config) {
  const std::string decay = std::to_string(config.decay_samples);
  require(config.decay_samples > 0, "the learning rate decay is " + decay + " samples long; give at least one step");
  require(config.warmup_samples >= 0 && config.warmup_samples < config.decay_samples,
          "the learning rate warm-up is " + std::to_string(config.warmup_samples) +
              " samples long; it must be 0 or more and shorter than the decay, which ends at " + decay + " samples");
  const bool is_wsd = config.lr_style == LrDecayStyle::kWsd;
  require(!is_wsd || (config.wsd_decay_samples > 0 && config.wsd_decay_samples <= config.decay_samples),
          "the final WSD decay is " + std::to_string(config.wsd_decay_samples) +
              " samples long; it must be 1 or more and at most the whole decay of " + decay + " samples");
}

void check_weight_decay(const ScheduleConfig& config) {
  const std::string start = number(config.start_wd);
  const std::string end = number(config.end_wd);
  require(std::isfinite(config.start_wd) && std::isfinite(config.end_wd) && config.start_wd >= 0.0 &&
              config.end_wd >= config.start_wd,
          "the weight decay goes from " + start + " to " + end + "; give finite numbers of 0 or more that do not fall");
  const bool is_constant = config.wd_style == WdIncrStyle::kConstant;
  require(!is_constant || config.start_wd == config.end_wd,
          "the weight decay goes from " + start + " to " + end +
              " but its style is constant; give both the same value, or the style linear or cosine");
  require(is_constant || config.wd_incr_samples > 0,
          "the weight decay grows over " + std::to_string(config.wd_incr_samples) + " samples; give at least one step");
}

}  // namespace

void check_schedule(const ScheduleConfig& config) {
  check_rates(config);
  check_lengths(config);
  check_weight_decay(config);
}

double learning_rate(const ScheduleConfig& config, std::int64_t num_samples, const GroupSchedule& group) {
  const double max_lr = group.max_lr.value_or(config.max_lr);
  const double min_lr = group.min_lr.value_or(config.min_lr);
  return base_rate(config, num_samples, max_lr, min_lr) * group.lr_mult;
}

double weight_decay(const ScheduleConfig& config, std::int64_t num_samples, const GroupSchedule& group) {
  if (config.wd_style == WdIncrStyle::kConstant || num_samples > config.wd_incr_samples) {
    return config.end_wd * group.wd_mult;
  }
  const double ratio = static_cast<double>(num_samples) / static_cast<double>(config.wd_incr_samples);
  const double coefficient =
      config.wd_style == WdIncrStyle::kLinear ? ratio : 0.5 * (std::cos(pi * (1.0 - ratio)) + 1.0);
  return (config.start_wd + coefficient * (config.end_wd - config.start_wd)) * group.wd_mult;
}

LrDecayStyle lr_decay_style(std::string_view name) {
  using enum LrDecayStyle;
  return style_of("lr_decay_style", name,
                  std::array<std::pair<std::string_view, LrDecayStyle>, 5>{{{"constant", kConstant},
                                                                            {"linear", kLinear},
                                                                            {"cosine", kCosine},
                                                                            {"inverse-square-root", kInverseSquareRoot},
                                                                            {"WSD", kWsd}}});
}

WsdDecayStyle wsd_decay_style(std::string_view name) {
  using enum WsdDecayStyle;
  return style_of(
      "lr_wsd_decay_style", name,
      std::array<std::pair<std::string_view, WsdDecayStyle>, 4>{
          {{"linear", kLinear}, {"cosine", kCosine}, {"exponential", kExponential}, {"minus_sqrt", kMinusSqrt}}});
}

WdIncrStyle wd_incr_style(std::string_view name) {
  using enum WdIncrStyle;
  return style_of("weight_decay_incr_style", name,
                  std::array<std::pair<std::string_view, WdIncrStyle>, 3>{
                      {{"constant", kConstant}, {"linear", kLinear}, {"cosine", kCosine}}});
}

}  // namespace slipway
