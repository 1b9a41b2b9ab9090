// A group whose calls go into a CollectiveTrace and whose errors name group, operation, number and bytes.
#pragma once

#include <functional>
#include <memory>

#include "core/base/error.h"
#include "core/comm/group.h"
#include "core/comm/trace.h"

namespace slipway {

// Who is told of what a rank communicates.
struct CommWatch {
  std::shared_ptr<CollectiveTrace> trace;
  // Called when a call that was under way has failed, before anybody else learns of it, on the thread that waits for
  // it; may end the process. Empty: nobody is told, the error is thrown only.
  std::function<void(const CommError&)> on_failure = {};
};

// REQUIRES: inner has several ranks, watch.trace is not nullptr. Numbers are given in the order in which calls start.
std::unique_ptr<Group> make_traced_group(std::unique_ptr<Group> inner, const CommWatch& watch);

}  // namespace slipway
