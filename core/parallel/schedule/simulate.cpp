#include "core/parallel/schedule/simulate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "core/base/error.h"

namespace slipway {
namespace {

using Key = std::tuple<PassKind, int32_t, int32_t>;  // kind, virtual stage, microbatch

int32_t stage_of(const Pass& pass, size_t rank, const Schedule& s) {
  return pass.chunk * s.pp + static_cast<int32_t>(rank);
}

// The pass whose result `pass` needs from another rank.
std::optional<Key> source_of(const Pass& pass, int32_t stage, const Schedule& s) {
  const int32_t from = pass.kind == PassKind::kForward ? stage - 1 : stage + 1;
  if (from < 0 || from == s.num_stages()) return std::nullopt;
  return Key{pass.kind, from, pass.microbatch};
}

}  // namespace

Timeline simulate(const Schedule& schedule, const StageTimes& times) {
  Timeline timeline;
  timeline.ranks.resize(schedule.ranks.size());
  std::map<Key, double> ends;
  std::vector<double> now(schedule.ranks.size()), busy(schedule.ranks.size());
  for (bool moves = true; moves;) {
    moves = false;
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      auto& entries = timeline.ranks[rank];
      for (; entries.size() < schedule.ranks[rank].size(); moves = true) {
        const Pass& pass = schedule.ranks[rank][entries.size()];
        const int32_t stage = stage_of(pass, rank, schedule);
        const auto source = source_of(pass, stage, schedule);
        if (source && !ends.contains(*source)) break;
        const double start = source ? std::max(now[rank], ends[*source] + times.transfer) : now[rank];
        const auto& durations = pass.kind == PassKind::kForward ? times.forward : times.backward;
        const double duration = durations[static_cast<size_t>(stage)];
        entries.push_back({pass, start, start + duration});
        ends[{pass.kind, stage, pass.microbatch}] = now[rank] = start + duration;
        busy[rank] += duration;
        timeline.total = std::max(timeline.total, now[rank]);
      }
    }
  }
  const double ideal = *std::max_element(busy.begin(), busy.end());
  timeline.bubble = ideal > 0 ? (timeline.total - ideal) / ideal : 0;
  return timeline;
}

std::string gantt(const Timeline& timeline, double unit) {
  std::string picture;
  for (size_t rank = 0; rank < timeline.ranks.size(); ++rank) {
    std::string line(static_cast<size_t>(std::ceil(timeline.total / unit)), '.');
    for (const Timeline::Entry& entry : timeline.ranks[rank]) {
      const auto begin = static_cast<size_t>(std::lround(entry.start / unit));
      const auto end = std::min(line.size(), static_cast<size_t>(std::lround(entry.end / unit)));
      const bool forward = entry.pass.kind == PassKind::kForward;
      for (size_t at = begin; at < end; ++at) {
        line[at] = at == begin ? static_cast<char>('0' + entry.pass.microbatch % 10) : forward ? '-' : '=';
      }
    }
    picture += "rank " + std::to_string(rank) + " |" + line + "|\n";
  }
  return picture;
}

}  // namespace slipway
