// Runs the microbatches of one step through the rank's model chunks, in the order of a schedule. Without pipelining
// that is forward, backward, forward, backward. Owns what is reused from step to step. One driver thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "core/comm/group.h"
#include "core/parallel/chunk.h"
#include "core/parallel/loss_counts.h"
#include "core/parallel/schedule/transfers.h"

namespace slipway {

class Transport;

// Sums over each microbatch, before any division: [microbatch][loss]; zeros where the last stage is not.
using LossSums = std::vector<std::vector<double>>;

// How a rank takes part in the pipeline.
struct PipelineSeat {
  int rank = 0;                   // in the pipeline
  std::vector<slw_stage> chunks;  // of this rank
  Group* group = nullptr;         // of the pipeline; nullptr or one rank: no pipelining
  bool recomputes = false;        // a chunk's forward runs again before its backward
  std::function<Schedule(int64_t num_microbatches)> schedule;
  std::function<Schedule(int64_t num_microbatches)> forward_only;
};

class StepRunner {
 public:
  StepRunner(const StepParts& parts, PipelineSeat seat, std::vector<LossDeclaration> losses);
  ~StepRunner();

  const std::vector<LossDeclaration>& losses() const { return losses_; }

  // Step `number`, from 0. Accumulates gradients over all microbatches; reports each chunk's last ones to the backend
  // as they come. `header` has been reduced over dp x cp and is the same on every stage. [collective: pp, and those of
  // the model]
  LossSums train(int64_t number, const std::vector<Microbatch>& microbatches, const StepHeader& header,
                 LossNormalization normalization);
  // Forward only, without dropout. [collective: as above]
  LossSums evaluate(int64_t number, const std::vector<Microbatch>& microbatches);

  // Most bytes that activations between stages ever took here.
  int64_t peak_activation_bytes() const { return pool_.counts().peak; }

 private:
  struct Step;
  const RankProgram& program(bool trains, int64_t num_microbatches);
  void run(Step& step, const RankProgram& program);
  void forward(Step& step, const Pass& pass);
  void backward(Step& step, const Pass& pass);
  void transfer(Step& step, const Action& action);
  Activations input_of(Step& step, const Pass& pass);

  PipelineSeat seat_;
  std::vector<LossDeclaration> losses_;
  MemoryPool pool_;  // before what uses it
  StepHooks hooks_;
  std::deque<Chunk> chunks_;
  std::map<std::pair<bool, int64_t>, RankProgram> programs_;
};

}  // namespace slipway
