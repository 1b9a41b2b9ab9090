// Elapsed time on the steady clock. A value; one thread at a time.
#pragma once

#include <chrono>

namespace slipway {

class Timer {
 public:
  Timer() { restart(); }

  void restart() { start_ = std::chrono::steady_clock::now(); }

  // Since construction or the last restart.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace slipway
