#include "core/base/progress_bar.h"

#include <algorithm>
#include <cstdio>

#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr double kDrawEvery = 0.1, kLogEvery = 30.0;  // seconds
constexpr int kWidth = 24;

std::string bar(double fraction) {
  const int filled = static_cast<int>(fraction * kWidth);
  std::string text(static_cast<std::size_t>(kWidth), ' ');
  std::fill_n(text.begin(), filled, '=');
  if (filled < kWidth) text[static_cast<std::size_t>(filled)] = '>';
  return "[" + text + "]";
}

}  // namespace

std::string progress_text(const std::string& what, int64_t done, int64_t total, double seconds) {
  if (total <= 0) return what + ": " + std::to_string(done) + " after " + human_duration(seconds);
  const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  char percent[16];
  std::snprintf(percent, sizeof percent, " %3d %%", static_cast<int>(fraction * 100));
  std::string text = what + " " + bar(fraction) + percent;
  if (done > 0 && done < total) text += "  time left " + human_duration(seconds / fraction - seconds);
  return text;
}

// The first drawing waits a few intervals: a bar that only flashes tells nothing.
ProgressBar::ProgressBar(Log* log, std::string what, int64_t total)
    : log_(log), what_(std::move(what)), total_(total), shown_at_(3 * kDrawEvery) {}

ProgressBar::~ProgressBar() {
  if (is_shown_) log_->show("");
}

void ProgressBar::advance(int64_t amount) {
  done_ += amount;
  if (log_ == nullptr) return;
  const double now = timer_.seconds();
  if (log_->is_terminal()) {
    if (now - shown_at_ < kDrawEvery) return;
    shown_at_ = now;
    is_shown_ = true;
    log_->show(progress_text(what_, done_, total_, now));
  } else if (now - logged_at_ >= kLogEvery) {
    logged_at_ = now;
    log_->info(progress_text(what_, done_, total_, now));
  }
}

}  // namespace slipway
