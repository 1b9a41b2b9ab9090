#include "core/base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace slipway {
namespace {

[[noreturn]] void fail(const char* action, const std::string& path, ExitCode blame, int code = errno) {
  throw Error(blame, std::string("cannot ") + action + " " + path + ": " + system_reason(code));
}

// Closes on every way out; reading has nothing to report on close.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

std::string system_reason(int code) {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return std::strerror(code) + std::string(is_full ? "; make room there and start again, a run with --resume" : "");
}

std::string read_file(const std::string& path, ExitCode blame) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0) fail("read", path, blame);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) fail("read", path, blame);
  std::string bytes;
  bytes.reserve(info.st_size > 0 ? static_cast<std::size_t>(info.st_size) : 0);
  std::string block(1 << 16, '\0');
  for (;;) {
    const ssize_t got = ::read(file.fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path, blame);
    if (got == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(got));
  }
}

std::uint64_t file_bytes(const std::string& path, ExitCode blame) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail("read", path, blame);
  if (!S_ISREG(info.st_mode)) throw Error(blame, path + " is not a regular file");
  return static_cast<std::uint64_t>(info.st_size);
}

void make_dirs(const std::string& path, ExitCode blame) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw Error(blame, "cannot make the folder " + path + ": " + error.message());
}

void sync_folder(const std::string& path, ExitCode blame) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd < 0) fail("open the folder", path, blame);
  // Some network file systems cannot sync a folder and say EINVAL; there is nothing better to do there.
  if (::fsync(folder.fd) != 0 && errno != EINVAL) fail("sync the folder", path, blame);
}

AtomicFile::AtomicFile(std::string path, ExitCode blame) : path_(std::move(path)), blame_(blame) {
  temporary_ = path_ + ".tmp.XXXXXX";
  fd_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (fd_ < 0) slipway::fail("write", path_, blame_);
  // mkostemp makes the file private; what it becomes has the usual rights.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd_, 0666 & ~mask) != 0) fail("write");
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::fail(const char* action) const { slipway::fail(action, path_, blame_); }

void AtomicFile::write(std::string_view bytes) {
  SLW_CHECK(fd_ >= 0);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  SLW_CHECK(fd_ >= 0);
  if (::fsync(fd_) != 0) fail("sync");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename into place");
  ::close(fd_);
  fd_ = -1;
  sync_folder(folder_of(path_), blame_);
}

void write_file_atomic(const std::string& path, std::string_view bytes, ExitCode blame) {
  AtomicFile file(path, blame);
  file.write(bytes);
  file.commit();
}

}  // namespace slipway
