// Tells how far a long piece of work has come: a bar with the time left on a terminal, elsewhere a log line every half
// minute. What is over within a moment shows nothing. One thread.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/log.h"
#include "core/base/timer.h"

namespace slipway {

class ProgressBar {
 public:
  // `log` nullptr: silent. `what` as in "evaluating"; `total` in any unit, 0 when it is not known.
  ProgressBar(Log* log, std::string what, int64_t total);
  ~ProgressBar();  // removes the bar
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void advance(int64_t amount = 1);

 private:
  Log* log_;
  std::string what_;
  int64_t total_, done_ = 0;
  Timer timer_;
  double shown_at_, logged_at_ = 0;
  bool is_shown_ = false;
};

// "evaluating [==========>         ]  53 %  time left 4 s"; without a total just what and how much.
std::string progress_text(const std::string& what, int64_t done, int64_t total, double seconds);

}  // namespace slipway
