// The tensors that pass between two pipeline stages for one microbatch, and their gradients. Memory comes from the
// rank's pool and goes back with the owner. One owner.
#pragma once

#include <memory>
#include <vector>

#include "core/base/memory_pool.h"
#include "core/plugin_host/host_model.h"

namespace slipway {

// The tensors of one edge: shapes with their strides. Made once per chunk, outlives every Activations of it.
struct EdgeSpec {
  struct Tensor {
    slw_dtype dtype;
    std::vector<int64_t> shape, strides;
    size_t bytes;
  };
  std::vector<Tensor> tensors;

  EdgeSpec() = default;
  explicit EdgeSpec(const std::vector<ActivationSpec>& specs);
};

class Activations {
 public:
  Activations() = default;
  // Uninitialized.
  Activations(const EdgeSpec& spec, MemoryPool& pool);

  const std::vector<slw_tensor>& tensors() const { return tensors_; }
  // As the border takes them. Valid as long as this object stays where it is.
  slw_tensor* const* pointers();
  uint32_t size() const { return static_cast<uint32_t>(tensors_.size()); }

 private:
  struct Release {
    void operator()(void* block) const { MemoryPool::release(block); }
  };
  std::vector<std::unique_ptr<void, Release>> memory_;
  std::vector<slw_tensor> tensors_;
  std::vector<slw_tensor*> pointers_;
};

}  // namespace slipway
