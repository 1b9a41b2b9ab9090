// Memory that is asked for again and again in the same sizes, as the activations of a step are: freed blocks are kept
// and given out again, so the kernel is not asked to map and clear pages in every step. Blocks are aligned to 64 bytes,
// as LibTorch's are. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace slipway {

class MemoryPool {
 public:
  struct Counts {             // bytes as asked for, rounded up to the sizes of blocks
    int64_t in_use = 0;       // given out now
    int64_t peak = 0;         // most ever given out at once
    int64_t kept = 0;         // freed and not given back to the system
    int64_t from_system = 0;  // times that the system was asked
  };

  MemoryPool() = default;
  ~MemoryPool();  // every block was released
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // nullptr for no bytes. Throws std::bad_alloc.
  void* allocate(size_t bytes);
  // A block of any pool, or nullptr; the pool it came from must still be there.
  static void release(void* block) noexcept;

  Counts counts() const;
  // The peak is measured anew, from what is in use now.
  void reset_peak();
  // Gives what is kept back to the system.
  void trim();

 private:
  struct Header;
  void keep(Header* header) noexcept;
  void trim_locked();

  mutable std::mutex mutex_;
  std::map<size_t, std::vector<Header*>> free_;  // by size
  Counts counts_;
};

}  // namespace slipway
