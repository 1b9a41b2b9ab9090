#include "launcher/worker/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "core/base/error.h"

namespace slipway {
namespace {

// SIGUSR1 ends the watcher itself.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&set, number);
  return set;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> on_stop) : on_stop_(std::move(on_stop)) {
  const sigset_t set = watched_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

StopSignals::~StopSignals() {
  is_over_ = true;
  pthread_kill(watcher_.native_handle(), SIGUSR1);
  watcher_.join();
}

void StopSignals::watch() {
  const sigset_t set = watched_signals();
  for (int number = 0; sigwait(&set, &number) == 0;) {
    if (is_over_) return;
    if (number == SIGUSR1) continue;
    if (!is_training_) _exit(static_cast<int>(ExitCode::kStoppedBySignal));
    requested_ = true;
    if (on_stop_) on_stop_();
  }
}

}  // namespace slipway
