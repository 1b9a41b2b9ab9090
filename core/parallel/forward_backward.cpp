#include "core/parallel/forward_backward.h"

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

constexpr int32_t kSlot = 0;  // one microbatch is in flight at a time

uint32_t last_hint(bool is_last) { return is_last ? uint32_t{SLW_FWD_LAST_MICROBATCH} : 0u; }

}  // namespace

ForwardBackward::ForwardBackward(const Parts& parts, const slw_stage& stage, std::vector<LossDeclaration> losses)
    : parts_(parts), stage_(stage), losses_(std::move(losses)), hooks_(parts.table, parts.store, parts.dp) {}

LossSums ForwardBackward::train(int64_t step, const std::vector<Microbatch>& microbatches, const StepHeader& header,
                                LossNormalization normalization) {
  LossSums sums;
  std::vector<double> gradients(losses_.size());
  for (size_t m = 0; m < microbatches.size(); ++m) {
    const bool is_last = m + 1 == microbatches.size();
    hooks_.begin(0, static_cast<int32_t>(m), is_last);
    sums.push_back(forward(step, microbatches[m], static_cast<int32_t>(m), SLW_FWD_TRAIN | last_hint(is_last)));
    for (size_t i = 0; i < losses_.size(); ++i) {
      gradients[i] = loss_gradient(header, losses_[i], i, m, normalization);
    }
    backward(gradients, is_last);
  }
  return sums;
}

LossSums ForwardBackward::evaluate(int64_t step, const std::vector<Microbatch>& microbatches) {
  LossSums sums;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    hooks_.begin(0, static_cast<int32_t>(m), false);
    sums.push_back(forward(step, microbatches[m], static_cast<int32_t>(m), SLW_FWD_NO_SAVE));
    parts_.model.discard(stage_, kSlot);
  }
  return sums;
}

std::vector<double> ForwardBackward::forward(int64_t step, const Microbatch& microbatch, int32_t number,
                                             uint32_t flags) {
  std::vector<double> sums(losses_.size(), 0.0);
  const Scalars sum_tensors(sums);
  const slw_range range{0, microbatch.seq_length};
  slw_forward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_forward_args, hooks);
  args.flags = flags;
  args.stage = &stage_;
  args.slot = kSlot;
  args.microbatch = number;
  args.step = step;
  args.weights_version = parts_.store.weights_version();
  args.batch_size = microbatch.batch_size;
  args.seq_length = microbatch.seq_length;
  args.sample_ids = microbatch.sample_ids;
  args.num_seq_ranges = 1;
  args.seq_ranges = &range;
  args.batch = microbatch.batch;
  args.num_losses = static_cast<uint32_t>(losses_.size());
  args.loss_sums = sum_tensors.pointers();
  args.stream = {kCpu, nullptr};
  args.hooks = hooks_.get();
  parts_.model.forward(args);
  return sums;
}

void ForwardBackward::backward(const std::vector<double>& loss_gradients, bool is_last) {
  std::vector<double> values = loss_gradients;
  const Scalars gradients(values);
  slw_backward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_backward_args, hooks);
  args.flags = last_hint(is_last);
  args.stage = &stage_;
  args.slot = kSlot;
  args.num_losses = static_cast<uint32_t>(losses_.size());
  args.loss_grads = gradients.pointers();
  args.stream = {kCpu, nullptr};
  args.hooks = hooks_.get();
  parts_.model.backward(args);
  hooks_.finish_backward();
}

}  // namespace slipway
