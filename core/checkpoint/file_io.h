// Reading at a position and writing with a running checksum, for files of a checkpoint. Every failure is a
// CheckpointError that names the file and the system's reason. One owner each; InputFile's const calls from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace slipway {

// What was written: the file's size and the XXH3 (64 bits) of all its bytes.
struct WrittenFile {
  std::uint64_t bytes = 0;
  std::uint64_t xxh3 = 0;
};

// An open regular file.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t bytes() const { return bytes_; }

  // Fills `target` from `position` on; a file that ends before is an error.
  void read(std::uint64_t position, std::span<std::byte> target) const;

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
};

// The whole of a file that should be small; more than `max_bytes` is an error.
std::string read_small_file(const std::filesystem::path& path, std::uint64_t max_bytes);

// Size and XXH3 of a file as it is on disk.
WrittenFile checksum_file(const std::filesystem::path& path);

// A file being written from front to back; an existing one is replaced.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }

  // Syncs to disk and closes. REQUIRES: not finished yet.
  WrittenFile finish();

 private:
  struct Hash;

  std::string path_;
  int fd_ = -1;
  std::uint64_t bytes_ = 0;
  std::unique_ptr<Hash> hash_;
};

WrittenFile write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace slipway
