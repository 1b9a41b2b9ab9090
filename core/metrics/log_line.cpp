#include "core/metrics/log_line.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

}  // namespace slipway
