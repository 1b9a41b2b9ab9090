#include "core/checkpoint/file_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"

namespace slipway {
namespace {

// Hashed and written in blocks of this size, so that hashing finds the block in the cache.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

[[noreturn]] void fail(const char* action, const std::string& path) {
  throw CheckpointError(std::string("cannot ") + action + " " + path + ": " + system_reason(errno));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path) : path_(path.string()) {
  // Without O_NONBLOCK a pipe in the place of the file would block.
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) fail("open", path_);
  struct stat info {};
  const bool is_regular = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
  if (!is_regular) {
    ::close(fd_);
    throw CheckpointError(path_ + " is not a regular file");
  }
  bytes_ = static_cast<std::uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(std::uint64_t position, std::span<std::byte> target) const {
  while (!target.empty()) {
    const ssize_t got = ::pread(fd_, target.data(), target.size(), static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_);
    if (got == 0) {
      throw CheckpointError(path_ + " ends at byte " + std::to_string(position) + ", " + std::to_string(target.size()) +
                            " bytes early");
    }
    position += static_cast<std::uint64_t>(got);
    target = target.subspan(static_cast<std::size_t>(got));
  }
}

std::string read_small_file(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  if (file.bytes() > max_bytes) {
    throw CheckpointError(path.string() + " has " + std::to_string(file.bytes()) + " bytes; at most " +
                          std::to_string(max_bytes) + " are allowed");
  }
  std::string text(file.bytes(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

WrittenFile checksum_file(const std::filesystem::path& path) {
  const std::uint64_t bytes = InputFile(path).bytes();
  return {bytes, xxh3_64_of_file(path.string(), ExitCode::kCheckpoint)};
}

struct OutputFile::Hash {
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state{XXH3_createState(), &XXH3_freeState};
};

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path.string()), hash_(std::make_unique<Hash>()) {
  SLW_CHECK(hash_->state && XXH3_64bits_reset(hash_->state.get()) == XXH_OK);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd_ < 0) fail("create", path_);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) ::close(fd_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  SLW_CHECK(fd_ >= 0);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kBlockBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_);
    const auto count = static_cast<std::size_t>(written);
    SLW_CHECK(XXH3_64bits_update(hash_->state.get(), bytes.data(), count) == XXH_OK);
    bytes_ += count;
    bytes = bytes.subspan(count);
  }
}

WrittenFile OutputFile::finish() {
  SLW_CHECK(fd_ >= 0);
  if (::fsync(fd_) != 0) fail("sync", path_);
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail("close", path_);
  return {bytes_, XXH3_64bits_digest(hash_->state.get())};
}

WrittenFile write_text_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  return file.finish();
}

}  // namespace slipway
