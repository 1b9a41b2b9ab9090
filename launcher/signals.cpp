#include "launcher/signals.h"

#include <string.h>
#include <sys/signalfd.h>

#include <cerrno>

#include "core/base/error.h"

namespace slipway {
namespace {

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&set, number);
  return set;
}

}  // namespace

SignalSource::SignalSource() {
  const sigset_t set = watched();
  SLW_CHECK(::pthread_sigmask(SIG_BLOCK, &set, &before_) == 0);
  fd_ = Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  SLW_CHECK(fd_.is_open());
}

SignalSource::~SignalSource() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::optional<SignalSource::Arrived> SignalSource::next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return Arrived{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

HeldSignals::HeldSignals() {
  const sigset_t set = watched();
  SLW_CHECK(::pthread_sigmask(SIG_BLOCK, &set, &before_) == 0);
}

HeldSignals::~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void restore_signals_in_child() {
  const sigset_t set = watched();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

std::string signal_text(int number) {
  const char* name = ::sigabbrev_np(number);
  const char* meaning = ::sigdescr_np(number);
  if (!name || !meaning) return "signal " + std::to_string(number);
  return std::string("SIG") + name + " (" + meaning + ")";
}

}  // namespace slipway
