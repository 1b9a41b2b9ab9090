// Errors as exit codes and messages, and how a rank of a run ends by one.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/rank_trace.h"
#include "core/base/reporter.h"
#include "core/comm/trace.h"

namespace slipway {

struct Failure {
  ExitCode code;
  std::string message;
};
Failure failure_of(const std::exception& error);

// Tells the launcher, or stderr when there is none, and leaves: the process ends as it stands, because destroying
// groups, threads and plugins after an error could wait for ranks that are gone. Any thread.
class RankFailure {
 public:
  // `name` is for stderr: "rank 3", or "" for a rank alone.
  RankFailure(std::string name, Reporter& reporter, Log& log, std::shared_ptr<const CollectiveTrace> trace)
      : name_(std::move(name)), reporter_(reporter), log_(log), trace_(std::move(trace)) {}

  // The first error counts; other threads that fail meanwhile wait for the end.
  [[noreturn]] void end_process(const std::exception& error);

 private:
  void tell(const Failure& failure, const RankTrace& trace);

  std::string name_;
  Reporter& reporter_;
  Log& log_;
  std::shared_ptr<const CollectiveTrace> trace_;
  std::mutex mutex_;
};

}  // namespace slipway
