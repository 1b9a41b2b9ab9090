#include "core/base/memory_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace slipway {
namespace {

constexpr size_t kAlignment = 64;
// Small blocks are left to malloc, which keeps them itself.
constexpr size_t kSmallestKept = 4096;
constexpr int64_t kAlwaysKept = int64_t{64} << 20;

// A sixteenth of the next power of two at most is wasted, and sizes that differ little share a block.
size_t block_size(size_t bytes) {
  const size_t step = std::max(kAlignment, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

void* from_system(size_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// Before every block.
struct alignas(kAlignment) MemoryPool::Header {
  MemoryPool* pool;
  size_t size;  // of the block behind it
};

MemoryPool::~MemoryPool() { trim(); }

void* MemoryPool::allocate(size_t bytes) {
  if (bytes == 0) return nullptr;
  const size_t size = block_size(bytes);
  const std::lock_guard lock(mutex_);
  Header* header = nullptr;
  if (const auto found = free_.find(size); found != free_.end() && !found->second.empty()) {
    header = found->second.back();
    found->second.pop_back();
    counts_.kept -= static_cast<int64_t>(size);
  } else {
    // Sizes that are asked for no more would be kept for ever.
    if (counts_.kept > 2 * counts_.peak + kAlwaysKept) trim_locked();
    header = new (from_system(sizeof(Header) + size)) Header{this, size};
    counts_.from_system += 1;
  }
  counts_.in_use += static_cast<int64_t>(size);
  counts_.peak = std::max(counts_.peak, counts_.in_use);
  return header + 1;
}

void MemoryPool::release(void* block) noexcept {
  if (block == nullptr) return;
  Header* header = static_cast<Header*>(block) - 1;
  header->pool->keep(header);
}

void MemoryPool::keep(Header* header) noexcept {
  const std::lock_guard lock(mutex_);
  counts_.in_use -= static_cast<int64_t>(header->size);
  if (header->size < kSmallestKept) {
    std::free(header);
    return;
  }
  try {
    free_[header->size].push_back(header);
    counts_.kept += static_cast<int64_t>(header->size);
  } catch (const std::bad_alloc&) {
    std::free(header);
  }
}

MemoryPool::Counts MemoryPool::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void MemoryPool::reset_peak() {
  const std::lock_guard lock(mutex_);
  counts_.peak = counts_.in_use;
}

void MemoryPool::trim() {
  const std::lock_guard lock(mutex_);
  trim_locked();
}

void MemoryPool::trim_locked() {
  for (auto& [size, blocks] : free_) {
    for (Header* header : blocks) std::free(header);
    blocks.clear();
  }
  counts_.kept = 0;
}

}  // namespace slipway
