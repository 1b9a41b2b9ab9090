// Looks after the calls of a rank that never end: a transport that does not notice its timeout, or a thread that was
// not let go. One per Communicator; owns a thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/comm/traced_group.h"

namespace slipway {

class Watchdog {
 public:
  // Tells watch.on_failure, once, of a call that has been waited for longer than `limit`.
  Watchdog(CommWatch watch, std::chrono::milliseconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void look_after();

  CommWatch watch_;
  std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace slipway
