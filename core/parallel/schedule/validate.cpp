#include "core/parallel/schedule/validate.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/parallel/schedule/transfers.h"

namespace slipway {
namespace {

[[noreturn]] void refuse(size_t rank, const std::string& what) {
  throw ConfigError("pipeline schedule: rank " + std::to_string(rank) + " " + what);
}

void check_sizes(const Schedule& s) {
  if (s.pp < 1 || s.vpp < 1 || s.num_microbatches < 1 || s.ranks.size() != static_cast<size_t>(s.pp)) {
    throw ConfigError("pipeline schedule: sizes have to be at least 1, with one list of passes per pipeline rank");
  }
  if (s.vpp > 1 && s.pp == 1) {
    throw ConfigError("pipeline schedule: " + std::to_string(s.vpp) +
                      " chunks per rank need at least 2 pipeline ranks");
  }
}

bool has_backwards(const Schedule& s) {
  return std::any_of(s.ranks.begin(), s.ranks.end(), [](const auto& passes) {
    return std::any_of(passes.begin(), passes.end(), [](const Pass& p) { return p.kind == PassKind::kBackward; });
  });
}

void check_passes(const Schedule& s, size_t rank, bool trains) {
  const auto index = [&](const Pass& pass) { return int64_t{pass.chunk} * s.num_microbatches + pass.microbatch; };
  std::unordered_map<int64_t, int> done;  // as large as the table, whatever sizes it claims
  for (const Pass& pass : s.ranks[rank]) {
    const std::string name = to_string(pass, s.vpp);
    if (pass.chunk < 0 || pass.chunk >= s.vpp || pass.microbatch < 0 || pass.microbatch >= s.num_microbatches) {
      refuse(rank, "has " + name + "; there are " + std::to_string(s.num_microbatches) + " microbatches and " +
                       std::to_string(s.vpp) + " chunks, counted from 0");
    }
    int& before = done[index(pass)];
    const int wanted = pass.kind == PassKind::kForward ? 0 : 1;
    if (before > wanted) refuse(rank, "has " + name + " twice, or after its backward");
    if (before < wanted) refuse(rank, "has " + name + " before its forward");
    ++before;
  }
  for (int64_t at = 0; at < int64_t{s.vpp} * s.num_microbatches; ++at) {
    const auto found = done.find(at);
    const int times = found == done.end() ? 0 : found->second;
    if (times == (trains ? 2 : 1)) continue;
    const Pass pass{times == 0 ? PassKind::kForward : PassKind::kBackward,
                    static_cast<int32_t>(at / s.num_microbatches), static_cast<int32_t>(at % s.num_microbatches)};
    refuse(rank, "lacks " + to_string(pass, s.vpp));
  }
}

}  // namespace

void validate(const Schedule& schedule, std::optional<int32_t> max_live) {
  check_sizes(schedule);
  const bool trains = has_backwards(schedule);
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) check_passes(schedule, rank, trains);
  const std::vector<RankProgram> programs = compile_unchecked(schedule);
  const std::string deadlock = deadlock_of(programs, schedule);
  if (!deadlock.empty()) {
    throw ConfigError("pipeline schedule: the ranks wait for each other, so it never ends:" + deadlock);
  }
  for (size_t rank = 0; max_live && rank < programs.size(); ++rank) {
    if (programs[rank].max_live <= *max_live) continue;
    refuse(rank, "keeps " + std::to_string(programs[rank].max_live) + " microbatches alive, allowed are " +
                     std::to_string(*max_live));
  }
}

}  // namespace slipway
