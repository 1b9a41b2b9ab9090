#include "core/parallel/activations.h"

#include "core/params/param.h"
#include "core/params/tensor_view.h"

namespace slipway {

EdgeSpec::EdgeSpec(const std::vector<ActivationSpec>& specs) {
  for (const ActivationSpec& spec : specs) {
    const auto numel = static_cast<size_t>(element_count(spec.shape));
    tensors.push_back(
        {spec.dtype, spec.shape, contiguous_strides(spec.shape), numel * spec.dtype.bits / 8 * spec.dtype.lanes});
  }
}

Activations::Activations(const EdgeSpec& spec, MemoryPool& pool) {
  for (const EdgeSpec::Tensor& tensor : spec.tensors) {
    memory_.emplace_back(pool.allocate(tensor.bytes));
    tensors_.push_back({memory_.back().get(), kCpu, static_cast<int32_t>(tensor.shape.size()), tensor.dtype,
                        const_cast<int64_t*>(tensor.shape.data()), const_cast<int64_t*>(tensor.strides.data()), 0});
  }
}

slw_tensor* const* Activations::pointers() {
  pointers_.clear();
  for (slw_tensor& tensor : tensors_) pointers_.push_back(&tensor);
  return pointers_.data();
}

}  // namespace slipway
