#include "core/parallel/schedule/transfers.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/parallel/schedule/validate.h"

namespace slipway {
namespace {

// One message between two ranks, the same seen from either side.
struct Message {
  TransferWhat what;
  int32_t to_stage, microbatch;
  auto operator<=>(const Message&) const = default;
};

// Where a message goes from its pass on `rank`, if it goes anywhere.
std::optional<Message> sent_by(const Pass& pass, int32_t rank, const Schedule& s) {
  const int32_t stage = pass.chunk * s.pp + rank;
  if (pass.kind == PassKind::kForward) {
    if (stage + 1 == s.num_stages()) return std::nullopt;
    return Message{TransferWhat::kActivation, stage + 1, pass.microbatch};
  }
  if (stage == 0) return std::nullopt;
  return Message{TransferWhat::kGradient, stage - 1, pass.microbatch};
}

// What a pass on `rank` waits for, if anything, and from which rank.
std::optional<std::pair<Message, int32_t>> wanted_by(const Pass& pass, int32_t rank, const Schedule& s) {
  const int32_t stage = pass.chunk * s.pp + rank;
  const bool forward = pass.kind == PassKind::kForward;
  const int32_t from = forward ? stage - 1 : stage + 1;
  if (from < 0 || from == s.num_stages()) return std::nullopt;
  const Message message{forward ? TransferWhat::kActivation : TransferWhat::kGradient, stage, pass.microbatch};
  return std::pair(message, from % s.pp);
}

// What goes from one rank to another, in the order of sending.
class Channels {
 public:
  explicit Channels(const Schedule& s) {
    for (int32_t rank = 0; rank < s.pp; ++rank) {
      for (const Pass& pass : s.ranks[static_cast<size_t>(rank)]) {
        const auto message = sent_by(pass, rank, s);
        if (!message) continue;
        auto& channel = channels_[{rank, message->to_stage % s.pp}];
        place_[*message] = channel.size();
        channel.push_back(*message);
      }
    }
  }
  // Messages from `from` to `to` up to `last`, beginning with number `next`.
  std::vector<Message> up_to(int32_t from, int32_t to, size_t& next, const Message& last) const {
    const auto& channel = channels_.at({from, to});
    const size_t end = place_.at(last) + 1;
    std::vector<Message> messages;
    for (; next < end; ++next) messages.push_back(channel[next]);
    return messages;
  }
  bool knows(const Message& message) const { return place_.contains(message); }

 private:
  std::map<std::pair<int32_t, int32_t>, std::vector<Message>> channels_;
  std::map<Message, size_t> place_;
};

class Compiler {
  static constexpr size_t kAhead = 1;  // passes that receives are posted ahead

 public:
  Compiler(const Schedule& s, const Channels& channels, int32_t rank)
      : s_(s), channels_(channels), rank_(rank), next_(static_cast<size_t>(s.pp)) {}

  RankProgram run() {
    const std::vector<Pass>& passes = s_.ranks[static_cast<size_t>(rank_)];
    RankProgram program;
    int32_t live = 0;
    for (size_t i = 0; i <= passes.size(); ++i) {
      Action batch;
      if (i > 0) add_send(passes[i - 1], batch);
      for (; posted_ < passes.size() && posted_ <= i + kAhead; ++posted_) add_receives(passes[posted_], batch);
      if (!batch.transfers.empty()) program.actions.push_back(std::move(batch));
      if (i == passes.size()) break;
      program.actions.push_back({passes[i], {}});
      live += passes[i].kind == PassKind::kForward ? 1 : -1;
      program.max_live = std::max(program.max_live, live);
    }
    return program;
  }

 private:
  void add_send(const Pass& pass, Action& batch) const {
    const auto message = sent_by(pass, rank_, s_);
    if (!message) return;
    batch.transfers.push_back({true, message->what, message->to_stage % s_.pp, pass.chunk, pass.microbatch});
  }
  // What `pass` wants, and what was sent before it by the same rank.
  void add_receives(const Pass& pass, Action& batch) {
    const auto wanted = wanted_by(pass, rank_, s_);
    if (!wanted || !channels_.knows(wanted->first)) return;
    size_t& next = next_[static_cast<size_t>(wanted->second)];
    for (const Message& m : channels_.up_to(wanted->second, rank_, next, wanted->first)) {
      batch.transfers.push_back({false, m.what, wanted->second, m.to_stage / s_.pp, m.microbatch});
    }
  }

  const Schedule& s_;
  const Channels& channels_;
  int32_t rank_;
  size_t posted_ = 0;
  std::vector<size_t> next_;  // by source rank
};

// Runs all programs as far as they go.
class Rehearsal {
 public:
  Rehearsal(const std::vector<RankProgram>& programs, const Schedule& s)
      : programs_(programs), s_(s), at_(programs.size()) {}

  std::string run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (size_t rank = 0; rank < programs_.size(); ++rank) moves = advance(rank) || moves;
    }
    std::string waits;
    for (size_t rank = 0; rank < programs_.size(); ++rank) {
      if (at_[rank] < programs_[rank].actions.size()) waits += waiting(rank);
    }
    return waits;
  }

 private:
  const Action& action(size_t rank) const { return programs_[rank].actions[at_[rank]]; }

  // Sends, receives and computes until something is missing.
  bool advance(size_t rank) {
    const size_t before = at_[rank];
    for (; at_[rank] < programs_[rank].actions.size(); ++at_[rank]) {
      const Action& next = action(rank);
      for (const Transfer& t : next.transfers) (t.is_send ? sent_ : posted_).insert(message_of(rank, t));
      if (!next.compute) continue;
      const auto wanted = wanted_by(*next.compute, static_cast<int32_t>(rank), s_);
      if (!wanted) continue;
      SLW_CHECK(!channel_has(wanted->first) || posted_.contains(wanted->first));
      if (!sent_.contains(wanted->first)) break;
    }
    return at_[rank] != before;
  }
  bool channel_has(const Message& message) const { return sent_.contains(message); }
  Message message_of(size_t rank, const Transfer& t) const {
    const int32_t stage = t.chunk * s_.pp + static_cast<int32_t>(rank);
    if (!t.is_send) return {t.what, stage, t.microbatch};
    return {t.what, t.what == TransferWhat::kActivation ? stage + 1 : stage - 1, t.microbatch};
  }
  std::string waiting(size_t rank) const {
    const Pass& pass = *action(rank).compute;
    const auto wanted = wanted_by(pass, static_cast<int32_t>(rank), s_);
    const Pass source{pass.kind, (wanted->first.to_stage + (pass.kind == PassKind::kForward ? -1 : 1)) / s_.pp,
                      pass.microbatch};
    return "\n  rank " + std::to_string(rank) + " waits with " + to_string(pass, s_.vpp) + " for " +
           to_string(source, s_.vpp) + " of rank " + std::to_string(wanted->second);
  }

  const std::vector<RankProgram>& programs_;
  const Schedule& s_;
  std::vector<size_t> at_;  // next action of each rank
  std::set<Message> sent_, posted_;
};

}  // namespace

std::vector<RankProgram> compile_unchecked(const Schedule& schedule) {
  const Channels channels(schedule);
  std::vector<RankProgram> programs;
  for (int32_t rank = 0; rank < schedule.pp; ++rank) programs.push_back(Compiler(schedule, channels, rank).run());
  return programs;
}

std::string deadlock_of(const std::vector<RankProgram>& programs, const Schedule& schedule) {
  return Rehearsal(programs, schedule).run();
}

std::vector<RankProgram> compile(const Schedule& schedule) {
  validate(schedule);
  return compile_unchecked(schedule);
}

}  // namespace slipway
