// One model chunk of a rank: its stage, what enters and leaves it, and its forward and backward as the border wants
// them. One driver thread.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/comm/trace.h"
#include "core/parallel/activations.h"
#include "core/parallel/loss_counts.h"
#include "core/parallel/param_store.h"
#include "core/parallel/step_hooks.h"
#include "core/plugin_host/host_model.h"

namespace slipway {

// What all chunks of a rank share.
struct StepParts {
  HostModel& model;
  HostDp& dp;
  const ParamTable& table;
  const ParamStore& store;
  bool acquires = false;             // the model acquires parameters as it uses them
  CollectiveTrace* trace = nullptr;  // told of forward and backward
  StreamTracker* streams = nullptr;  // of rng=megatron

  void set_phase(const char* phase) const {
    if (trace != nullptr) trace->set_phase(phase);
  }
};

class Chunk {
 public:
  // `number`: on this rank. `hooks` serve every chunk of the rank.
  Chunk(const StepParts& parts, const slw_stage& stage, int32_t number, StepHooks& hooks);

  const slw_stage& stage() const { return stage_; }
  bool has_losses() const { return stage_.post_process != 0; }
  // Tensors that enter and leave with a microbatch of this size.
  const EdgeSpec& inputs(const Microbatch& microbatch);
  const EdgeSpec& outputs(const Microbatch& microbatch);

  struct Call {
    int64_t step;
    int32_t number;  // of the microbatch; also the slot
    uint32_t flags;  // SLW_FWD_*
    const Microbatch& microbatch;
  };
  // `loss_sums`: one per declared loss, written by the last stage; empty: not wanted.
  void forward(const Call& call, Activations& inputs, Activations& outputs, std::vector<double>& loss_sums);
  // Reports what the model did not report itself. `loss_gradients`: one per declared loss.
  void backward(const Call& call, bool is_last, const std::vector<double>& loss_gradients, Activations& grads_out,
                Activations& grads_in);
  void discard(int32_t number) { parts_.model.discard(stage_, number); }

 private:
  struct Edges {
    EdgeSpec inputs, outputs;
  };
  const Edges& edges(const Microbatch& microbatch);

  StepParts parts_;
  slw_stage stage_;
  int32_t number_;
  StepHooks& hooks_;
  std::map<std::pair<int64_t, int64_t>, Edges> edges_;  // by batch size and sequence length
};

}  // namespace slipway
