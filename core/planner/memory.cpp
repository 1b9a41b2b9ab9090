#include <algorithm>
#include <map>

#include "core/parallel/placement.h"
#include "core/planner/estimates.h"

namespace slipway {
namespace {

constexpr int64_t kFloat = sizeof(float);

// Elements of each parameter that every data-parallel rank owns: by owner; the last entry is of those without shards.
std::map<int, int64_t> owned_state_bytes(const ParamTable& table, const DpPlan& plan, const Updates& updates) {
  std::map<int32_t, int64_t> slots;  // per element
  for (const Param& param : table.params()) {
    if (!param.declaration->is_trained()) continue;
    for (const StateSlot& slot : updates.slots_of(param)) {
      if (slot.extent != SLW_STATE_SCALAR) slots[param.index] += 1;
    }
  }
  std::map<int, int64_t> bytes;
  std::vector<bool> is_sharded(table.params().size());
  for (const DpPlan::Shard& shard : plan.shards) {
    is_sharded[static_cast<size_t>(shard.param)] = true;
    bytes[shard.owner] += (shard.end - shard.begin) * slots[shard.param] * kFloat;
  }
  int64_t everybodys = 0;
  for (const Param& param : table.params()) {
    if (!is_sharded[static_cast<size_t>(param.index)]) everybodys += param.local_numel * slots[param.index] * kFloat;
  }
  if (bytes.empty()) bytes[0] = 0;
  for (auto& [owner, sum] : bytes) sum += everybodys;
  return bytes;
}

}  // namespace

MemoryPlan lasting_memory(const ParamTable& table, const DpPlan& plan, const Updates& updates) {
  MemoryPlan memory;
  for (const DpPlan::Buffer& buffer : plan.buffers) {
    memory.parameters += buffer.numel * buffer.param.bits / 8;
    memory.gradients += buffer.numel * buffer.grad.bits / 8;
  }
  for (const Param& param : table.params()) {
    if (!param.declaration->is_trained()) memory.parameters += param.local_numel * kFloat;
  }
  for (const auto& [owner, bytes] : owned_state_bytes(table, plan, updates)) {
    memory.optimizer = std::max(memory.optimizer, bytes);
  }
  return memory;
}

int64_t activation_peak(const std::vector<ChunkPlan>& chunks, const RankProgram& program, bool recomputes) {
  int64_t kept = 0, peak = 0;
  for (const Action& action : program.actions) {
    if (!action.compute) continue;
    const ChunkPlan& chunk = chunks[static_cast<size_t>(action.compute->chunk)];
    const int64_t saved = chunk.cost ? chunk.cost->saved_bytes : 0;
    const int64_t workspace = chunk.cost ? chunk.cost->workspace_bytes : 0;
    const int64_t lasting = chunk.input_bytes + (recomputes ? 0 : saved);
    if (action.compute->kind == PassKind::kForward) {
      kept += lasting;
      peak = std::max(peak, kept + chunk.output_bytes + (recomputes ? saved : 0));
    } else {
      const int64_t gradients = chunk.input_bytes + chunk.output_bytes;
      peak = std::max(peak, kept + gradients + workspace + (recomputes ? saved : 0));
      kept -= lasting;
    }
  }
  return peak;
}

}  // namespace slipway
