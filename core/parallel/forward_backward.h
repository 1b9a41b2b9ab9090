// Runs the microbatches of one step through the rank's model: the schedule without pipelining. Owns what is reused from
// step to step. One driver thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel/loss_counts.h"
#include "core/parallel/param_store.h"
#include "core/parallel/step_hooks.h"
#include "core/plugin_host/host_model.h"

namespace slipway {

// One entry per microbatch and loss: sums over the microbatch, before any division.
using LossSums = std::vector<std::vector<double>>;

class ForwardBackward {
 public:
  struct Parts {
    HostModel& model;
    HostDp& dp;
    const ParamTable& table;
    const ParamStore& store;
  };
  // `stage` is the only chunk: the whole model.
  ForwardBackward(const Parts& parts, const slw_stage& stage, std::vector<LossDeclaration> losses);

  const std::vector<LossDeclaration>& losses() const { return losses_; }

  // Accumulates gradients over all microbatches; reports the last one's to the backend as they come. `header` has been
  // reduced over dp x cp. [collective: those of the model]
  LossSums train(int64_t step, const std::vector<Microbatch>& microbatches, const StepHeader& header,
                 LossNormalization normalization);
  // Forward only, without dropout.
  LossSums evaluate(int64_t step, const std::vector<Microbatch>& microbatches);

 private:
  std::vector<double> forward(int64_t step, const Microbatch& microbatch, int32_t number, uint32_t flags);
  void backward(const std::vector<double>& loss_gradients, bool is_last);

  Parts parts_;
  slw_stage stage_;
  std::vector<LossDeclaration> losses_;
  StepHooks hooks_;
};

}  // namespace slipway
