// A text file in memory, read-only and mapped: its pages are shared by all ranks of a node and read when touched.
// Immutable after construction; any thread. The file must not shrink while it is mapped.
#pragma once

#include <cstddef>
#include <string>

class MappedFile {
 public:
  // Throws slw::Error naming the file when it is missing, not a regular file, empty or unreadable.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const unsigned char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::string path_;
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
};
