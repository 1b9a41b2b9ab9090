#include "core/parallel/step_runner.h"

#include <algorithm>

#include "core/parallel/transport.h"

namespace slipway {

// What lives during one step.
struct StepRunner::Step {
  Step(Group* group, const std::vector<Microbatch>& given) : microbatches(given) {
    if (group != nullptr && group->size() > 1) transport = std::make_unique<Transport>(*group);
  }
  Step(const Step&) = delete;

  const std::vector<Microbatch>& microbatches;
  int64_t number = 0;
  bool trains = false;
  std::vector<std::vector<double>> loss_gradients;          // [microbatch][loss]
  std::map<std::pair<int32_t, int32_t>, Activations> kept;  // inputs, by chunk and microbatch, until backward
  std::vector<int32_t> backwards_left;                      // by chunk
  LossSums sums;
  std::unique_ptr<Transport> transport;

  const Microbatch& of(const Pass& pass) const { return microbatches[static_cast<size_t>(pass.microbatch)]; }
};

StepRunner::StepRunner(const StepParts& parts, PipelineSeat seat, std::vector<LossDeclaration> losses)
    : seat_(std::move(seat)),
      losses_(std::move(losses)),
      hooks_(parts.table, parts.store, parts.dp, parts.acquires, parts.streams) {
  for (size_t c = 0; c < seat_.chunks.size(); ++c) {
    chunks_.emplace_back(parts, seat_.chunks[c], static_cast<int32_t>(c), hooks_);
  }
}

StepRunner::~StepRunner() = default;

LossSums StepRunner::train(int64_t number, const std::vector<Microbatch>& microbatches, const StepHeader& header,
                           LossNormalization normalization) {
  Step step(seat_.group, microbatches);
  step.number = number;
  step.trains = true;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    std::vector<double>& gradients = step.loss_gradients.emplace_back();
    for (size_t i = 0; i < losses_.size(); ++i) {
      gradients.push_back(loss_gradient(header, losses_[i], i, m, normalization));
    }
  }
  run(step, program(true, static_cast<int64_t>(microbatches.size())));
  return std::move(step.sums);
}

LossSums StepRunner::evaluate(int64_t number, const std::vector<Microbatch>& microbatches) {
  Step step(seat_.group, microbatches);
  step.number = number;
  run(step, program(false, static_cast<int64_t>(microbatches.size())));
  return std::move(step.sums);
}

const RankProgram& StepRunner::program(bool trains, int64_t num_microbatches) {
  const std::pair key(trains, num_microbatches);
  const auto found = programs_.find(key);
  if (found != programs_.end()) return found->second;
  const Schedule schedule = (trains ? seat_.schedule : seat_.forward_only)(num_microbatches);
  return programs_.emplace(key, compile(schedule)[static_cast<size_t>(seat_.rank)]).first->second;
}

void StepRunner::run(Step& step, const RankProgram& program) {
  step.sums.assign(step.microbatches.size(), std::vector<double>(losses_.size(), 0.0));
  step.backwards_left.assign(chunks_.size(), static_cast<int32_t>(step.microbatches.size()));
  for (const Action& action : program.actions) {
    if (!action.compute) {
      transfer(step, action);
    } else if (action.compute->kind == PassKind::kForward) {
      forward(step, *action.compute);
    } else {
      backward(step, *action.compute);
    }
  }
  if (step.transport) step.transport->finish();
}

Activations StepRunner::input_of(Step& step, const Pass& pass) {
  const bool comes = chunks_[static_cast<size_t>(pass.chunk)].stage().pre_process == 0;
  return comes ? step.transport->take(TransferWhat::kActivation, pass.chunk, pass.microbatch) : Activations();
}

void StepRunner::forward(Step& step, const Pass& pass) {
  Chunk& chunk = chunks_[static_cast<size_t>(pass.chunk)];
  const Microbatch& microbatch = step.of(pass);
  Activations inputs = input_of(step, pass), outputs(chunk.outputs(microbatch), pool_);
  const bool is_last = static_cast<size_t>(pass.microbatch) + 1 == step.microbatches.size();
  uint32_t flags = is_last ? uint32_t{SLW_FWD_LAST_MICROBATCH} : 0u;
  if (step.trains) flags |= SLW_FWD_TRAIN;
  if (!step.trains || seat_.recomputes) flags |= SLW_FWD_NO_SAVE;
  std::vector<double> nothing;
  chunk.forward({step.number, pass.microbatch, flags, microbatch}, inputs, outputs,
                chunk.has_losses() ? step.sums[static_cast<size_t>(pass.microbatch)] : nothing);
  if (!chunk.has_losses()) {
    step.transport->put(TransferWhat::kActivation, pass.chunk, pass.microbatch, std::move(outputs));
  }
  if (step.trains) {
    step.kept[{pass.chunk, pass.microbatch}] = std::move(inputs);
  } else {
    chunk.discard(pass.microbatch);
  }
}

void StepRunner::backward(Step& step, const Pass& pass) {
  Chunk& chunk = chunks_[static_cast<size_t>(pass.chunk)];
  const Microbatch& microbatch = step.of(pass);
  auto inputs = step.kept.extract({pass.chunk, pass.microbatch});
  const Chunk::Call call{step.number, pass.microbatch, SLW_FWD_TRAIN | SLW_FWD_RECOMPUTE, microbatch};
  if (seat_.recomputes) {
    Activations again(chunk.outputs(microbatch), pool_);
    std::vector<double> nothing;
    chunk.forward(call, inputs.mapped(), again, nothing);
  }
  Activations grads_out, grads_in(chunk.inputs(microbatch), pool_);
  if (!chunk.has_losses()) {
    grads_out = step.transport->take(TransferWhat::kGradient, pass.chunk, pass.microbatch);
  }
  const bool is_last = --step.backwards_left[static_cast<size_t>(pass.chunk)] == 0;
  chunk.backward(call, is_last, step.loss_gradients[static_cast<size_t>(pass.microbatch)], grads_out, grads_in);
  if (chunk.stage().pre_process == 0) {
    step.transport->put(TransferWhat::kGradient, pass.chunk, pass.microbatch, std::move(grads_in));
  }
}

void StepRunner::transfer(Step& step, const Action& action) {
  step.transport->begin();
  for (const Transfer& transfer : action.transfers) {
    if (transfer.is_send) {
      step.transport->send(transfer);
      continue;
    }
    Chunk& chunk = chunks_[static_cast<size_t>(transfer.chunk)];
    const Microbatch& microbatch = step.microbatches[static_cast<size_t>(transfer.microbatch)];
    const bool forward = transfer.what == TransferWhat::kActivation;
    step.transport->receive(transfer,
                            Activations(forward ? chunk.inputs(microbatch) : chunk.outputs(microbatch), pool_));
  }
  step.transport->end();
}

}  // namespace slipway
