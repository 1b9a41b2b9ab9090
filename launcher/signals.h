// The signals that a launcher waits for, as something to read: SIGINT, SIGTERM and SIGCHLD are blocked while this
// lives. One per process at a time, on the main thread.
#pragma once

#include <signal.h>

#include <optional>
#include <string>

#include "launcher/descriptor.h"

namespace slipway {

class SignalSource {
 public:
  struct Arrived {
    int number;
    bool from_terminal;  // sent by the kernel to the whole foreground group, Ctrl-C
  };

  SignalSource();
  ~SignalSource();
  SignalSource(const SignalSource&) = delete;
  SignalSource& operator=(const SignalSource&) = delete;

  // Readable when a signal has arrived.
  int fd() const { return fd_.get(); }
  // The next one, or none; does not wait.
  std::optional<Arrived> next();

 private:
  sigset_t before_;
  Descriptor fd_;
};

// SIGINT and SIGTERM that come while no SignalSource lives wait for the next one, or for the end of this. Around
// several runs, on the main thread.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

// Unblocks what SignalSource blocks. Only system calls: for use between fork and exec.
void restore_signals_in_child();

// "SIGSEGV (Segmentation fault)"
std::string signal_text(int number);

}  // namespace slipway
