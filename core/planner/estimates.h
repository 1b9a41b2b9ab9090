// The parts of a rank's plan that are sums: memory and communication. Pure functions.
#pragma once

#include <vector>

#include "core/optim/updates.h"
#include "core/parallel/schedule/transfers.h"
#include "core/params/table.h"
#include "core/planner/layout_plan.h"

namespace slipway {

// Parameters, gradients and optimizer state; the state of the data-parallel rank that owns most.
MemoryPlan lasting_memory(const ParamTable& table, const DpPlan& plan, const Updates& updates);

// Most bytes that a rank's activations take at once while it runs `program`. `recomputes`: chunks keep their input
// only.
int64_t activation_peak(const std::vector<ChunkPlan>& chunks, const RankProgram& program, bool recomputes);

struct CommInputs {
  const std::vector<ChunkPlan>& chunks;
  const DpPlan& plan;
  const ParamTable& table;
  const std::vector<std::string>& crossing_ties;
  const Mesh& mesh;
  int64_t num_microbatches;
  int dp_rank;  // whose shards
  bool recomputes;
};
// What one rank hands in to each kind of collective in a step, scalars apart (formulas: core/comm/README.md).
std::vector<CommVolume> communication_of(const CommInputs& inputs);

}  // namespace slipway
