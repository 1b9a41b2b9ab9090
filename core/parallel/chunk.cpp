#include "core/parallel/chunk.h"

namespace slipway {
namespace {

// fp64 scalars as the border wants them.
class Scalars {
 public:
  explicit Scalars(std::vector<double>& values) {
    for (double& value : values) tensors_.push_back({&value, kCpu, 0, kFloat64, nullptr, nullptr, 0});
    for (slw_tensor& tensor : tensors_) pointers_.push_back(&tensor);
  }
  slw_tensor* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<slw_tensor> tensors_;
  std::vector<slw_tensor*> pointers_;
};

}  // namespace

Chunk::Chunk(const StepParts& parts, const slw_stage& stage, int32_t number, StepHooks& hooks)
    : parts_(parts), stage_(stage), number_(number), hooks_(hooks) {}

const Chunk::Edges& Chunk::edges(const Microbatch& microbatch) {
  const std::pair key(microbatch.batch_size, microbatch.seq_length);
  const auto found = edges_.find(key);
  if (found != edges_.end()) return found->second;
  const IoSpec spec = parts_.model.io_spec(stage_, microbatch.batch_size, microbatch.seq_length);
  return edges_.emplace(key, Edges{EdgeSpec(spec.inputs), EdgeSpec(spec.outputs)}).first->second;
}

const EdgeSpec& Chunk::inputs(const Microbatch& microbatch) { return edges(microbatch).inputs; }
const EdgeSpec& Chunk::outputs(const Microbatch& microbatch) { return edges(microbatch).outputs; }

void Chunk::forward(const Call& call, Activations& inputs, Activations& outputs, std::vector<double>& loss_sums) {
  const Scalars sums(loss_sums);
  const slw_range range{0, call.microbatch.seq_length};
  slw_forward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_forward_args, hooks);
  args.flags = call.flags;
  args.stage = &stage_;
  args.slot = args.microbatch = call.number;
  args.step = call.step;
  args.weights_version = parts_.store.weights_version();
  args.batch_size = call.microbatch.batch_size;
  args.seq_length = call.microbatch.seq_length;
  args.sample_ids = call.microbatch.sample_ids;
  args.num_seq_ranges = 1;
  args.seq_ranges = &range;
  args.batch = call.microbatch.batch;
  args.num_inputs = inputs.size();
  args.inputs = inputs.pointers();
  args.num_outputs = outputs.size();
  args.outputs = outputs.pointers();
  args.num_losses = static_cast<uint32_t>(loss_sums.size());
  args.loss_sums = sums.pointers();
  args.stream = {kCpu, nullptr};
  parts_.set_phase("forward");
  hooks_.begin(number_, call.number, false);
  const bool repeats = (call.flags & SLW_FWD_RECOMPUTE) != 0;
  const bool will_repeat = (call.flags & SLW_FWD_NO_SAVE) != 0 && (call.flags & SLW_FWD_TRAIN) != 0;
  using Reserving = StepHooks::Reserving;
  hooks_.begin_reserving(repeats ? Reserving::kAgain : will_repeat ? Reserving::kNoted : Reserving::kAnew);
  args.hooks = hooks_.get();
  parts_.model.forward(args);
}

void Chunk::backward(const Call& call, bool is_last, const std::vector<double>& loss_gradients, Activations& grads_out,
                     Activations& grads_in) {
  std::vector<double> values = loss_gradients;
  const Scalars gradients(values);
  slw_backward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_backward_args, hooks);
  args.flags = is_last ? uint32_t{SLW_FWD_LAST_MICROBATCH} : 0u;
  args.stage = &stage_;
  args.slot = call.number;
  args.num_losses = static_cast<uint32_t>(values.size());
  args.loss_grads = gradients.pointers();
  args.num_grads_out = grads_out.size();
  args.grads_out = grads_out.pointers();
  args.num_grads_in = grads_in.size();
  args.grads_in = grads_in.pointers();
  args.stream = {kCpu, nullptr};
  parts_.set_phase("backward");
  hooks_.begin(number_, call.number, is_last);
  args.hooks = hooks_.get();
  parts_.model.backward(args);
  hooks_.finish_backward();
}

}  // namespace slipway
