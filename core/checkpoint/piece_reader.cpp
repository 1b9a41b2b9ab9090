#include "core/checkpoint/piece_reader.h"

#include <algorithm>
#include <cstring>

namespace slipway {
namespace {

// A run this long is worth its own system call.
constexpr std::size_t kLongRun = std::size_t{1} << 18;
constexpr std::size_t kMinWindow = std::size_t{1} << 16;
// Runs read ahead; with wide gaps between them the rest of the window is wasted.
constexpr std::size_t kRunsAhead = 8;

}  // namespace

void PieceReader::read(std::uint64_t position, std::span<std::byte> target) {
  const bool in_file = position <= file_.bytes() && target.size() <= file_.bytes() - position;
  if (target.size() >= kLongRun || !in_file) return file_.read(position, target);
  const bool in_window = position >= window_begin_ && position + target.size() <= window_begin_ + window_.size();
  if (!in_window) {
    const std::size_t wanted = std::max(kMinWindow, kRunsAhead * target.size());
    window_.resize(std::min<std::uint64_t>(wanted, file_.bytes() - position));
    file_.read(position, window_);
    window_begin_ = position;
  }
  std::memcpy(target.data(), window_.data() + (position - window_begin_), target.size());
}

}  // namespace slipway
