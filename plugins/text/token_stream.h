// The files as one sequence of tokens: the bytes of each in order, and, with document boundaries, kEndOfDocument after
// each file. Immutable after construction; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/text/mapped_file.h"

inline constexpr int64_t kEndOfDocument = 256;

// Where a run of tokens comes from.
struct Piece {
  const MappedFile* file;
  int64_t offset, length;  // in bytes; length may be one more than the file has left: its end of document
};

class TokenStream {
 public:
  // Throws slw::Error naming the file that cannot be used.
  TokenStream(const std::vector<std::string>& paths, bool document_boundaries);

  int64_t size() const { return starts_.back(); }
  int64_t num_bytes() const;
  std::size_t num_files() const { return files_.size(); }

  // The tokens [begin, begin + out.size()). REQUIRES: they are in the stream.
  void read(int64_t begin, std::vector<int64_t>& out) const;
  std::vector<Piece> locate(int64_t begin, int64_t length) const;

  // A hash of what is in the files; reads all of them.
  uint64_t content_hash() const;

 private:
  std::vector<MappedFile> files_;
  std::vector<int64_t> starts_;  // of each file, and the end
};
