// Copies runs of bytes out of one file in rising order. Short runs are taken out of a window that is read at once, so a
// cut across the rows of a stored matrix does not cost one system call a row. One owner; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "core/checkpoint/file_io.h"

namespace slipway {

class PieceReader {
 public:
  explicit PieceReader(const std::filesystem::path& path) : file_(path) {}

  void read(std::uint64_t position, std::span<std::byte> target);

 private:
  InputFile file_;
  std::uint64_t window_begin_ = 0;
  std::vector<std::byte> window_;
};

}  // namespace slipway
