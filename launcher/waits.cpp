#include "launcher/waits.h"

#include <signal.h>

#include <algorithm>
#include <map>

namespace slipway {
namespace {

constexpr size_t kMaxLines = 8;

std::string who(const std::vector<int>& ranks) { return (ranks.size() == 1 ? "rank " : "ranks ") + ranks_text(ranks); }

bool waits(const RankEnd& end) { return end.trace && end.trace->waits_in; }

// Calls of several ranks that are one and the same; a send or receive is a rank's own.
struct Waiting {
  AwaitedCall call;
  std::vector<int> ranks;

  bool is_same(const AwaitedCall& other) const {
    return call.peer < 0 && other.peer < 0 && call.group == other.group && call.ranks == other.ranks &&
           call.op == other.op && call.number == other.number;
  }
};

bool has_arrived(const RankEnd& end, const AwaitedCall& call) {
  if (!end.trace) return false;
  return std::any_of(end.trace->groups.begin(), end.trace->groups.end(), [&](const GroupProgress& group) {
    return group.name == call.group && group.ranks == call.ranks && group.last >= call.number;
  });
}

// Of a transfer nobody but its two ends knows, so only an end that left no trace is missing.
bool is_missing(int rank, const AwaitedCall& call, const std::vector<RankEnd>& ends) {
  const auto index = static_cast<size_t>(rank);
  if (index >= ends.size()) return false;
  if (call.peer >= 0) return rank == call.peer && !ends[index].trace;
  return !has_arrived(ends[index], call);
}

std::string line_of(const Waiting& waiting, const std::vector<RankEnd>& ends) {
  const AwaitedCall& call = waiting.call;
  std::vector<int> missing;
  for (const int rank : call.ranks) {
    const bool is_here = std::find(waiting.ranks.begin(), waiting.ranks.end(), rank) != waiting.ranks.end();
    if (!is_here && is_missing(rank, call, ends)) missing.push_back(rank);
  }
  return who(waiting.ranks) + (waiting.ranks.size() == 1 ? " waits in " : " wait in ") + call_text(call) + " " +
         since_text(call.seconds) + (missing.empty() ? "" : "; " + who(missing) + " never arrived");
}

std::vector<Waiting> waiting_ranks(const std::vector<RankEnd>& ends, const RankEnd* without) {
  std::vector<Waiting> all;
  for (size_t rank = 0; rank < ends.size(); ++rank) {
    if (&ends[rank] == without || !waits(ends[rank])) continue;
    const AwaitedCall& call = *ends[rank].trace->waits_in;
    auto same = std::find_if(all.begin(), all.end(), [&](const Waiting& other) { return other.is_same(call); });
    if (same == all.end()) same = all.insert(all.end(), {call, {}});
    same->call.seconds = std::max(same->call.seconds, call.seconds);
    same->ranks.push_back(static_cast<int>(rank));
  }
  return all;
}

// Ranks that were busy, by what they were in.
std::map<std::string, std::vector<int>> busy_ranks(const std::vector<RankEnd>& ends, const RankEnd* without) {
  std::map<std::string, std::vector<int>> by_phase;
  for (size_t rank = 0; rank < ends.size(); ++rank) {
    if (&ends[rank] == without || !ends[rank].trace || waits(ends[rank])) continue;
    by_phase[ends[rank].trace->phase].push_back(static_cast<int>(rank));
  }
  return by_phase;
}

}  // namespace

int64_t step_of(const RankEnd& end, const std::vector<RankEnd>& ends) {
  if (end.trace) return end.trace->step;
  int64_t step = 0;  // the others may be ahead of it
  for (const RankEnd& other : ends) {
    const int64_t theirs = other.trace ? other.trace->step : 0;
    if (theirs > 0) step = step == 0 ? theirs : std::min(step, theirs);
  }
  return step;
}

const RankEnd* unresponsive_rank(const std::vector<RankEnd>& ends) {
  const auto found = std::find_if(ends.begin(), ends.end(), [](const RankEnd& end) {
    return end.signal == SIGKILL && end.killed_by_us && !end.report && !waits(end);
  });
  return found == ends.end() ? nullptr : &*found;
}

std::string waits_text(const std::vector<RankEnd>& ends, const RankEnd* without) {
  std::vector<std::string> lines;
  for (const Waiting& waiting : waiting_ranks(ends, without)) lines.push_back(line_of(waiting, ends));
  if (lines.empty()) return "";
  for (const auto& [phase, ranks] : busy_ranks(ends, without)) {
    lines.push_back(who(ranks) + (ranks.size() == 1 ? " was in " : " were in ") + phase);
  }
  std::string text;
  for (size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) text += "\n  " + lines[i];
  if (lines.size() > kMaxLines) text += "\n  and " + std::to_string(lines.size() - kMaxLines) + " more such lines";
  return text;
}

}  // namespace slipway
