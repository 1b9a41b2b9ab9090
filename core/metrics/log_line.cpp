#include "core/metrics/log_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/base/strings.h"

namespace slipway {
namespace {

template <class... Args>
std::string format(const char* pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), pattern, args...);
  return text;
}

}  // namespace

void LogInterval::add(const StepNumbers& step) {
  last_ = step;
  steps_ += 1;
  tokens_ += step.tokens;
  seconds_ += step.seconds;
  flops_per_rank_ += step.flops_per_rank;
  const bool is_finite =
      std::all_of(step.losses.begin(), step.losses.end(), [](const auto& loss) { return std::isfinite(loss.second); });
  if (!is_finite) not_finite_ += 1;
  if (step.skipped) return;
  applied_ += 1;
  for (const auto& [name, loss] : step.losses) loss_sums_[name] += loss;
}

std::string LogInterval::line(int64_t iteration, int64_t train_iters) const {
  std::string text =
      format(" iteration %8lld/%8lld |", static_cast<long long>(iteration), static_cast<long long>(train_iters));
  text += format(" consumed samples: %12lld |", static_cast<long long>(last_.consumed_samples));
  text += format(" elapsed time per iteration (ms): %.1f |", seconds_ * 1000 / static_cast<double>(steps_));
  if (flops_per_rank_ > 0) {
    text +=
        format(" throughput per GPU (TFLOP/s/GPU): %.1f |", flops_per_rank_ / (seconds_ > 0 ? seconds_ : 1e-9) / 1e12);
  }
  text += format(" tokens per second: %.0f |", static_cast<double>(tokens_) / (seconds_ > 0 ? seconds_ : 1e-9));
  text += format(" learning rate: %.6E |", last_.learning_rate);
  text += format(" global batch size: %5lld |", static_cast<long long>(last_.global_batch));
  for (const auto& [name, sum] : loss_sums_) {
    text += " " + name + format(": %.6E |", sum / static_cast<double>(applied_));
  }
  text += format(" loss scale: %.1f |", last_.loss_scale);
  text += format(" grad norm: %.3f |", last_.grad_norm);
  text += format(" number of skipped iterations: %3lld |", static_cast<long long>(steps_ - applied_));
  text += format(" number of nan iterations: %3lld |", static_cast<long long>(not_finite_));
  return text;
}

void LiveLine::add(const StepNumbers& step) {
  constexpr double kKept = 0.9;
  last_ = step;
  tokens_ = kKept * tokens_ + static_cast<double>(step.tokens);
  samples_ = kKept * samples_ + static_cast<double>(step.global_batch);
  seconds_ = kKept * seconds_ + step.seconds;
  if (step.skipped) skipped_ += 1;
}

// The end is cut off on a narrow terminal, so it goes from what matters most to what matters least.
std::string LiveLine::text(int64_t iteration, int64_t train_iters, int64_t samples_left) const {
  std::string text =
      format("step %lld of %lld", static_cast<long long>(iteration), static_cast<long long>(train_iters));
  if (samples_left > 0) {
    const double left = static_cast<double>(samples_left) * seconds_ / std::max(samples_, 1e-9);
    text += " | " + human_duration(left) + " left";
  }
  for (const auto& [name, loss] : last_.losses) text += " | " + name + format(" %.4f", loss);
  text += format(" | %.0f tokens/s", tokens_ / std::max(seconds_, 1e-9));
  if (skipped_ > 0) text += format(" | skipped %lld", static_cast<long long>(skipped_));
  return text + format(" | lr %.2E | grad norm %.3f", last_.learning_rate, last_.grad_norm);
}

std::string evaluation_line(int64_t iteration, const std::string& split, const std::map<std::string, double>& losses) {
  std::string text =
      format(" validation loss at iteration %lld on ", static_cast<long long>(iteration)) + split + " set |";
  for (const auto& [name, loss] : losses) {
    text += " " + name + format(" value: %.6E |", loss) + " " + name + format(" PPL: %.6E |", perplexity(loss));
  }
  return text;
}

double perplexity(double loss) { return std::exp(std::min(20.0, loss)); }

}  // namespace slipway
