#include "plugins/text/token_stream.h"

#include <slipway/philox.h>

#include <algorithm>
#include <cstring>

namespace {

uint64_t hash_bytes(uint64_t hash, const unsigned char* data, std::size_t size) {
  std::size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, sizeof word);
    hash = slw_mix64(hash ^ word) + UINT64_C(0x9E3779B97F4A7C15);
  }
  for (; i < size; ++i) hash = slw_mix64(hash ^ data[i]) + UINT64_C(0x9E3779B97F4A7C15);
  return hash;
}

}  // namespace

TokenStream::TokenStream(const std::vector<std::string>& paths, bool document_boundaries) : starts_{0} {
  for (const std::string& path : paths) {
    files_.emplace_back(path);
    const int64_t tokens = static_cast<int64_t>(files_.back().size()) + (document_boundaries ? 1 : 0);
    starts_.push_back(starts_.back() + tokens);
  }
}

int64_t TokenStream::num_bytes() const {
  int64_t bytes = 0;
  for (const MappedFile& file : files_) bytes += static_cast<int64_t>(file.size());
  return bytes;
}

void TokenStream::read(int64_t begin, std::vector<int64_t>& out) const {
  auto to = out.begin();
  for (const Piece& piece : locate(begin, static_cast<int64_t>(out.size()))) {
    const int64_t in_file = std::min(piece.length, static_cast<int64_t>(piece.file->size()) - piece.offset);
    to = std::copy_n(piece.file->data() + piece.offset, in_file, to);
    if (in_file < piece.length) *to++ = kEndOfDocument;
  }
}

std::vector<Piece> TokenStream::locate(int64_t begin, int64_t length) const {
  std::vector<Piece> pieces;
  auto next = std::upper_bound(starts_.begin(), starts_.end(), begin);
  for (const int64_t end = begin + length; begin < end; ++next) {
    const auto file = static_cast<std::size_t>(next - starts_.begin()) - 1;
    const int64_t piece_end = std::min(end, *next);
    pieces.push_back({&files_[file], begin - starts_[file], piece_end - begin});
    begin = piece_end;
  }
  return pieces;
}

uint64_t TokenStream::content_hash() const {
  uint64_t hash = 0;
  for (const MappedFile& file : files_) {
    const uint64_t size = file.size();
    hash = hash_bytes(hash_bytes(hash, reinterpret_cast<const unsigned char*>(&size), sizeof size), file.data(), size);
  }
  return hash;
}
