#include "core/comm/trace.h"

#include <algorithm>

namespace slipway {
namespace {

using State = TracedCall::State;

constexpr std::array<const char*, kNumGroupOps> kOpNames = {"all_reduce", "all_gather", "reduce_scatter",
                                                            "all_to_all", "broadcast",  "barrier",
                                                            "send",       "recv",       "coalesced calls"};

// Calls that every rank of a group makes, so that their numbers agree.
bool is_collective(GroupOp op) { return op != GroupOp::kSend && op != GroupOp::kRecv && op != GroupOp::kCoalesced; }

double seconds_of(TracedCall::Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

const char* group_op_name(GroupOp op) { return kOpNames[static_cast<size_t>(op)]; }

void CollectiveTrace::enter(const char* phase) {
  const std::lock_guard lock(mutex_);
  step_ = 0;
  phase_ = phase;
}

void CollectiveTrace::begin_step(int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
  phase_ = "";
  for (TracedGroup& group : groups_) {
    for (CallCount& count : group.counts) count.step_calls = count.step_bytes = 0;
  }
}

void CollectiveTrace::set_phase(const char* phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

std::string CollectiveTrace::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_text();
}

std::string CollectiveTrace::phase_text() const {
  if (step_ == 0) return phase_;
  const std::string step = "step " + std::to_string(step_);
  return *phase_ == '\0' ? step : step + " " + phase_;
}

size_t CollectiveTrace::add_group(const std::string& name, const std::vector<int>& ranks) {
  const std::lock_guard lock(mutex_);
  groups_.push_back({.name = name, .ranks = ranks});
  return groups_.size() - 1;
}

TracedCall CollectiveTrace::start(size_t group, GroupOp op, int64_t bytes, int peer) {
  const std::lock_guard lock(mutex_);
  TracedGroup& of = groups_[group];
  CallCount& count = of.counts[static_cast<size_t>(op)];
  count.calls += 1, count.step_calls += 1;
  count.bytes += bytes, count.step_bytes += bytes;
  TracedCall& call = under_way_.emplace_back();
  call.id = num_calls_++;
  call.group = group;
  call.op = op;
  call.number = is_collective(op) ? of.num_collectives++ : of.num_others++;
  call.bytes = bytes;
  call.peer = peer;
  call.step = step_;
  call.phase = phase_;
  call.started = TracedCall::Clock::now();
  return call;
}

void CollectiveTrace::await(const TracedCall& call) {
  const std::lock_guard lock(mutex_);
  for (TracedCall& open : under_way_) {
    if (open.id != call.id || open.state == State::kAwaited) continue;
    open.state = State::kAwaited;
    open.awaited = TracedCall::Clock::now();
  }
}

void CollectiveTrace::end(const TracedCall& call, State state) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(under_way_.begin(), under_way_.end(), [&](const TracedCall& open) { return open.id == call.id; });
  if (found == under_way_.end()) return;
  TracedCall ended = *found;
  under_way_.erase(found);
  ended.ended = TracedCall::Clock::now();
  const bool was_awaited = ended.state == State::kAwaited;
  if (!was_awaited) ended.awaited = ended.ended;
  ended.state = state;
  if (state == State::kFailed && was_awaited && !first_failure_) first_failure_ = ended;
  keep(ended);
}

void CollectiveTrace::keep(const TracedCall& call) {
  if (ended_.size() < capacity_) {
    ended_.push_back(call);
  } else if (capacity_ > 0) {
    ended_[oldest_] = call;
    oldest_ = (oldest_ + 1) % capacity_;
  }
}

std::string CollectiveTrace::describe(const TracedCall& call) const {
  const std::lock_guard lock(mutex_);
  const TracedGroup& group = groups_[call.group];
  return std::string(group_op_name(call.op)) + " #" + std::to_string(call.number) + " of group " + group.name + " (" +
         std::to_string(group.ranks.size()) + " ranks, " + std::to_string(call.bytes) + " bytes)";
}

std::vector<TracedCall> CollectiveTrace::recent() const {
  const std::lock_guard lock(mutex_);
  std::vector<TracedCall> calls;
  for (size_t i = 0; i < ended_.size(); ++i) calls.push_back(ended_[(oldest_ + i) % ended_.size()]);
  calls.insert(calls.end(), under_way_.begin(), under_way_.end());
  return calls;
}

const TracedCall* CollectiveTrace::longest_awaited_call() const {
  const TracedCall* longest = nullptr;
  for (const TracedCall& call : under_way_) {
    if (call.state != State::kAwaited) continue;
    if (longest == nullptr || call.awaited < longest->awaited) longest = &call;
  }
  return longest;
}

std::optional<TracedCall> CollectiveTrace::longest_awaited() const {
  const std::lock_guard lock(mutex_);
  const TracedCall* longest = longest_awaited_call();
  return longest == nullptr ? std::nullopt : std::optional(*longest);
}

AwaitedCall CollectiveTrace::awaited_call(const TracedCall& call) const {
  const TracedGroup& group = groups_[call.group];
  const auto until = call.state == State::kAwaited ? TracedCall::Clock::now() : call.ended;
  const int peer = call.peer < 0 ? -1 : group.ranks[static_cast<size_t>(call.peer)];
  return {group.name, group.ranks, group_op_name(call.op),          call.number,
          call.bytes, peer,        seconds_of(until - call.awaited)};
}

RankTrace CollectiveTrace::state() const {
  const std::lock_guard lock(mutex_);
  RankTrace state{step_, phase_text(), {}, {}};
  for (const TracedGroup& group : groups_) {
    state.groups.push_back({group.name, group.ranks, group.num_collectives - 1});
  }
  const TracedCall* waits_in = first_failure_ ? &*first_failure_ : longest_awaited_call();
  if (waits_in != nullptr) state.waits_in = awaited_call(*waits_in);
  return state;
}

std::vector<GroupCount> CollectiveTrace::counts() const {
  const std::lock_guard lock(mutex_);
  std::vector<GroupCount> counts;
  for (const TracedGroup& group : groups_) {
    for (size_t op = 0; op < kNumGroupOps; ++op) {
      if (group.counts[op].calls > 0) counts.push_back({group.name, static_cast<GroupOp>(op), group.counts[op]});
    }
  }
  return counts;
}

}  // namespace slipway
