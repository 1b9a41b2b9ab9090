// What one rank calls on its groups: the calls under way, the latest that ended, counts by group and operation, and
// where training is meanwhile. Its state at a failure is what the launcher tells from. Any thread; nothing here blocks.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rank_trace.h"

namespace slipway {

enum class GroupOp {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kBarrier,
  kSend,
  kRecv,
  kCoalesced
};
inline constexpr size_t kNumGroupOps = 9;
// "all_reduce"
const char* group_op_name(GroupOp op);

struct TracedCall {
  using Clock = std::chrono::steady_clock;
  enum class State { kStarted, kAwaited, kDone, kFailed };

  uint64_t id = 0;   // of the rank, from 0
  size_t group = 0;  // as add_group gave it
  GroupOp op = GroupOp::kAllReduce;
  int64_t number = 0;  // among the group's collectives, from 0; sends, receives and coalesced calls are counted apart
  int64_t bytes = 0;   // that this rank handed in
  int peer = -1;       // place in the group of a send's or receive's other end
  int64_t step = 0;    // in which it started
  const char* phase = "";
  State state = State::kStarted;
  Clock::time_point started, awaited, ended;  // the last two once its state says so
};

// Calls and bytes handed in, since the start and since begin_step.
struct CallCount {
  int64_t calls = 0, bytes = 0, step_calls = 0, step_bytes = 0;

  bool operator==(const CallCount&) const = default;
};

struct GroupCount {
  std::string group;
  GroupOp op;
  CallCount count;
};

class CollectiveTrace {
 public:
  // Keeps so many calls that ended.
  explicit CollectiveTrace(size_t capacity = 256) : capacity_(capacity) {}
  CollectiveTrace(const CollectiveTrace&) = delete;
  CollectiveTrace& operator=(const CollectiveTrace&) = delete;

  // Where training is. Texts are static.
  void enter(const char* phase);      // outside of steps: "initialize"
  void begin_step(int64_t step);      // from 1
  void set_phase(const char* phase);  // in the step: "forward"
  // "step 7 forward", "initialize"
  std::string phase() const;

  // A group of several ranks, by global rank; returns its number here.
  size_t add_group(const std::string& name, const std::vector<int>& ranks);

  // One call: it starts, is waited for perhaps, and ends well or not. What is told of a call that ended is ignored.
  TracedCall start(size_t group, GroupOp op, int64_t bytes, int peer = -1);
  void await(const TracedCall& call);
  void finish(const TracedCall& call) { end(call, TracedCall::State::kDone); }
  void fail(const TracedCall& call) { end(call, TracedCall::State::kFailed); }

  // "all_reduce #3 of group dp (4 ranks, 1024 bytes)"
  std::string describe(const TracedCall& call) const;
  // Those that ended, oldest first, then those under way.
  std::vector<TracedCall> recent() const;
  // The one that has been waited for longest and still is.
  std::optional<TracedCall> longest_awaited() const;
  // The rank waits in the first call that failed while it was awaited, else in the one it has waited for longest.
  RankTrace state() const;
  // What was called at least once, by group in the order they were added.
  std::vector<GroupCount> counts() const;

 private:
  struct TracedGroup {
    std::string name;
    std::vector<int> ranks;
    int64_t num_collectives = 0, num_others = 0;
    std::array<CallCount, kNumGroupOps> counts{};
  };
  void end(const TracedCall& call, TracedCall::State state);
  void keep(const TracedCall& call);
  std::string phase_text() const;
  AwaitedCall awaited_call(const TracedCall& call) const;
  const TracedCall* longest_awaited_call() const;

  mutable std::mutex mutex_;
  size_t capacity_;
  int64_t step_ = 0;
  const char* phase_ = "";
  uint64_t num_calls_ = 0;
  std::vector<TracedGroup> groups_;
  std::vector<TracedCall> under_way_;  // oldest first
  std::vector<TracedCall> ended_;      // a ring once it is full
  size_t oldest_ = 0;
  std::optional<TracedCall> first_failure_;
};

}  // namespace slipway
