#include "launcher/worker/failure.h"

#include <unistd.h>

#include <iostream>
#include <new>

namespace slipway {

Failure failure_of(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return {ours->code(), ours->what()};
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return {ExitCode::kUsage, "out of memory; lower the micro-batch size or the model"};
  }
  return {ExitCode::kUsage, error.what()};
}

void RankFailure::end_process(const std::exception& error) {
  mutex_.lock();  // for good
  const Failure failure = failure_of(error);
  log_.show("");
  tell(failure, trace_->state());
  ::_exit(static_cast<int>(failure.code));
}

void RankFailure::tell(const Failure& failure, const RankTrace& trace) {
  if (reporter_.connected()) {
    reporter_.trace(trace);
    reporter_.error(failure.code, trace.phase, failure.message);
    return;
  }
  // A refused manifest speaks for itself.
  const bool names_place = failure.code != ExitCode::kUsage;
  std::string text = "slipway: ";
  if (names_place) text += name_ + (name_.empty() ? "" : " ") + "failed in " + trace.phase + ": ";
  text += failure.message + "\n";
  if (const auto& call = trace.waits_in) {
    text += "  " + name_ + " waits in " + call_text(*call) + " " + since_text(call->seconds) + "\n";
  }
  std::cerr << text << std::flush;
}

}  // namespace slipway
