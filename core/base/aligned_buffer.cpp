#include "core/base/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Mapped on a huge-page boundary: without it the kernel gives small pages at both ends. New mappings are zero.
void* map_memory(std::size_t bytes) {
  const std::size_t size = round_up(bytes, kHugePageBytes);
  void* whole = ::mmap(nullptr, size + kHugePageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (whole == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(whole);
  const std::size_t head =
      round_up(reinterpret_cast<std::size_t>(begin), kHugePageBytes) - reinterpret_cast<std::size_t>(begin);
  if (head > 0) ::munmap(begin, head);
  if (head < kHugePageBytes) ::munmap(begin + head + size, kHugePageBytes - head);
  ::madvise(begin + head, size, MADV_HUGEPAGE);
  return begin + head;
}

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes, Fill fill) {
  if (bytes == 0) return;
  const bool representable = bytes <= std::numeric_limits<std::size_t>::max() / 2;
  if (representable && bytes >= kMappedBytes) {
    data_ = map_memory(bytes);
  } else if (representable) {
    data_ = std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
    if (data_ && fill == Fill::kZeroed) std::memset(data_, 0, bytes);
  }
  if (!data_) {
    throw Error(ExitCode::kUsage, "out of memory: the system refused a buffer of " + human_bytes(bytes) +
                                      "; use a smaller model or micro batch, or a machine with more memory");
  }
  bytes_ = bytes;
}

AlignedBuffer::~AlignedBuffer() { release(); }

AlignedBuffer::AlignedBuffer(AlignedBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void AlignedBuffer::release() noexcept {
  if (bytes_ >= kMappedBytes)
    ::munmap(data_, round_up(bytes_, kHugePageBytes));
  else
    std::free(data_);
}

}  // namespace slipway
