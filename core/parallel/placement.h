// Where every parameter of the rank lies, as the data-parallel backend planned it, and who updates which part.
// Immutable once made; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/params/table.h"
#include "core/plugin_host/host_dp.h"

namespace slipway {

// A part of a parameter that this rank updates: elements [begin, end) of its flattened local tensor.
struct OwnedRange {
  int32_t param;
  int64_t begin, end;
  bool is_sharded = false;  // other data-parallel ranks update other parts; else all update the same
};

// Asks the backend for its plan of the trained parameters and checks it: everything placed once, nothing overlaps, all
// inside, aligned to 16 elements. Throws PluginError naming the parameter.
DpPlan make_plan(const HostDp& dp, const ParamTable& table);

// The ranges that rank `dp_rank` of each parameter's group updates, in declare order. Without shards: everything.
std::vector<OwnedRange> owned_ranges(const DpPlan& plan, const ParamTable& table, int dp_rank);

}  // namespace slipway
