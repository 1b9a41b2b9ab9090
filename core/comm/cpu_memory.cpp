#include "core/comm/cpu_memory.h"

#include <c10/core/CPUAllocator.h>

namespace slipway {
namespace {

class PoolAllocator final : public c10::Allocator {
 public:
  explicit PoolAllocator(MemoryPool& pool) : pool_(pool) {}

  c10::DataPtr allocate(size_t bytes) override {
    void* memory = pool_.allocate(bytes);
    return {memory, memory, &MemoryPool::release, c10::Device(c10::DeviceType::CPU)};
  }
  // oneDNN takes its scratch through the raw interface, for which the context must be the data.
  c10::DeleterFnPtr raw_deleter() const override { return &MemoryPool::release; }
  void copy_data(void* target, const void* source, size_t bytes) const override {
    default_copy_data(target, source, bytes);
  }

 private:
  MemoryPool& pool_;
};

MemoryPool& install() {
  // Never destroyed: tensors may be released by destructors that run after main.
  auto* pool = new MemoryPool;
  c10::SetCPUAllocator(new PoolAllocator(*pool), /*priority=*/1);
  return *pool;
}

}  // namespace

MemoryPool& use_memory_pool() {
  static MemoryPool& pool = install();
  return pool;
}

}  // namespace slipway
