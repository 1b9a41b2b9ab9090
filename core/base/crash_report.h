// Names the call into a plugin during which the process crashes. Each thread marks such a call while it lasts, at the
// price of two stores; only when a fatal signal comes is anything written. Marks: any thread, each its own.
#pragma once

#include "core/base/reporter.h"

namespace slipway {

// "This thread is in `function` of `component` from `file`." Marks nest. The texts must outlive the mark.
class CallMark {
 public:
  CallMark(const char* function, const char* component, const char* file) noexcept;
  ~CallMark();
  CallMark(const CallMark&) = delete;
  CallMark& operator=(const CallMark&) = delete;

  const char* const function;
  const char* const component;
  const char* const file;

 private:
  const CallMark* const outer_;
};

// From here on a crash by SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT inside a marked call leaves a crumb, "forward of
// model gpt (/path/libslipway_gpt.so)", for the launcher; without a launcher a line on stderr. A fault on a thread that
// marked nothing is put down to the main thread's call. The signal then does what it did before. Once per process, on
// its main thread.
void report_crashes(const Reporter& reporter);

// Gives the calling thread a stack of its own for that report, without which an overflow of its stack is not named. The
// main thread has one. For threads that call plugins; again on the same thread does nothing.
void give_crash_stack();

}  // namespace slipway
