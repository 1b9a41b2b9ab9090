// The update of one rank: which optimizer takes which parameter, its state, and the rates of each. The optimizer
// plugins compute; everything that lasts is here. One driver thread.
#pragma once

#include <slipway/optimizer.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/optim/schedule.h"
#include "core/params/param.h"
#include "core/plugin_host/host_optimizer.h"

namespace slipway {

// A part of a parameter that this rank updates: elements [begin, end) of its flattened local tensor, which lie at
// `master` and `grad`.
struct UpdateRange {
  const Param* param;
  int64_t begin, end;
  float* master;
  float* grad;
};

// Weight decay and rate multipliers of a parameter: from its declaration; 1-D parameters and those that say so do not
// decay.
GroupSchedule group_of(const slw_param_decl& decl);

class Updates {
 public:
  // `chain`: the optimizer of the manifest, then its fallback if there is one. Throws ConfigError for a parameter that
  // none of them claims, PluginError for one whose optimizer accepts no flat slice. Ranges outlive this.
  Updates(std::vector<std::unique_ptr<HostOptimizer>> chain, const std::vector<UpdateRange>& ranges);

  // The state that the optimizer of `param` keeps for it. Throws as the constructor.
  std::vector<StateSlot> slots_of(const Param& param) const;

  // One update. `num_samples`: trained on before it; `update`: 1 at the first; gradients are multiplied by
  // `grad_scale`.
  void step(const ScheduleConfig& schedule, int64_t num_samples, int64_t update, double grad_scale);

  // A state slot of a range, to save or to fill. extent SCALAR: one value.
  struct State {
    const Param* param;
    std::string slot;
    bool is_scalar;
    int64_t begin, end;
    std::span<float> values;
  };
  const std::vector<State>& states() const { return states_; }
  int64_t state_bytes() const;

 private:
  struct Item {
    size_t optimizer;
    GroupSchedule group;
    int64_t numel, stride = 1, scalar = 1;
    std::deque<slw_tensor> state_tensors;
    std::vector<slw_tensor*> state_pointers;
    slw_shard shard;
  };
  size_t optimizer_of(const Param& param) const;
  void add(const UpdateRange& range);
  void add_state(Item& item, const UpdateRange& range, const StateSlot& slot);

  std::vector<std::unique_ptr<HostOptimizer>> chain_;
  std::deque<Item> items_;  // addresses of members are handed out
  std::deque<AlignedBuffer> memory_;
  std::vector<State> states_;
  std::vector<std::vector<const slw_shard*>> shards_;  // by optimizer
};

}  // namespace slipway
