// What the ranks were doing when a run failed, by the traces that they left. Pure functions over values; `ends` are by
// rank.
#pragma once

#include <string>
#include <vector>

#include "launcher/outcome.h"

namespace slipway {

// The step that `end` was in, by its own word or else by the others'; 0: nobody said.
int64_t step_of(const RankEnd& end, const std::vector<RankEnd>& ends);

// The rank that did not end before it was killed, although it waited for nobody: one that was stopped or hangs, the
// cause of its peers' timeouts. nullptr: none.
const RankEnd* unresponsive_rank(const std::vector<RankEnd>& ends);

// Lines, each with a line end before it, for the ranks that wait, and then for what the others were in:
//   rank 0 waits in all_reduce #31 of group dp (ranks 0, 1; 4096 bytes) since 0.1 s; rank 1 never arrived
// Ranks that wait in one call share a line. "" when nobody waits. `without` has no line; nullptr: all have.
std::string waits_text(const std::vector<RankEnd>& ends, const RankEnd* without);

}  // namespace slipway
