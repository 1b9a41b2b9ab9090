#include "core/comm/watchdog.h"

namespace slipway {
namespace {

constexpr std::chrono::milliseconds kInterval{200};

}  // namespace

Watchdog::Watchdog(CommWatch watch, std::chrono::milliseconds limit)
    : watch_(std::move(watch)), limit_(limit), thread_([this] { look_after(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

void Watchdog::look_after() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, kInterval, [this] { return is_over_; })) {
    const auto call = watch_.trace->longest_awaited();
    if (!call || TracedCall::Clock::now() - call->awaited < limit_) continue;
    watch_.on_failure(CommError(watch_.trace->describe(*call) + " is not over after " +
                                std::to_string(std::chrono::ceil<std::chrono::seconds>(limit_).count()) + " s"));
    return;
  }
}

}  // namespace slipway
