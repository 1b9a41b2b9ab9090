// Memory for numbers: 64-byte aligned (alignment changes the bits of vector sums), freed with its owner, movable, not
// copyable. From 4 MiB on it is mapped by itself and huge pages are asked for. One owner; no locking.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/error.h"

namespace slipway {

class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kMappedBytes = std::size_t{4} << 20;
  enum class Fill { kZeroed, kUninitialized };

  AlignedBuffer() = default;
  // Throws Error (usage) that states the size when the system has no such memory.
  explicit AlignedBuffer(std::size_t bytes, Fill fill = Fill::kZeroed);
  ~AlignedBuffer();
  AlignedBuffer(AlignedBuffer&& other) noexcept;
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;

  // nullptr when empty.
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

  // The whole buffer as an array. REQUIRES: bytes() is a multiple of sizeof(T).
  template <class T>
  std::span<T> as() const {
    SLW_CHECK(bytes_ % sizeof(T) == 0);
    return {static_cast<T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  void release() noexcept;

  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace slipway
