// SIGINT and SIGTERM as a wish: once training has begun they set a flag that the ranks agree on after the step; before
// that there is nothing to save and the process ends at once, with the exit code of a stop by a signal.
// One per process, made on the main thread before any other thread starts: threads inherit that both signals are
// blocked.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace slipway {

class StopSignals {
 public:
  // `on_stop` is called for every signal that comes during training, on a thread of this object.
  explicit StopSignals(std::function<void()> on_stop = {});
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  const std::atomic<bool>& requested() const { return requested_; }
  // From here on a signal only sets the flag.
  void training_begins() { is_training_ = true; }

 private:
  void watch();

  std::function<void()> on_stop_;
  std::atomic<bool> requested_{false}, is_training_{false}, is_over_{false};
  std::thread watcher_;
};

}  // namespace slipway
