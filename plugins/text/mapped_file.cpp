#include "plugins/text/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <slipway/sdk/error.hpp>
#include <utility>

namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(slw_status status, const std::string& path, const std::string& what) {
  throw slw::Error(status, slw::cat("text: ", path, ": ", what));
}

std::string system_text() { return std::strerror(errno); }

// The number of bytes of a file that can be trained on.
std::size_t checked_size(const Descriptor& file, const std::string& path) {
  struct stat status;
  if (::fstat(file.get(), &status) != 0) fail(SLW_IO, path, system_text());
  if (S_ISDIR(status.st_mode))
    fail(SLW_INVALID_ARGUMENT, path, "is a folder; give the files in it one by one in 'paths'");
  if (!S_ISREG(status.st_mode))
    fail(SLW_INVALID_ARGUMENT, path, "is not a regular file; it has to be one to be mapped");
  if (status.st_size == 0) fail(SLW_INVALID_ARGUMENT, path, "is empty; take it out of 'paths' or give another file");
  return static_cast<std::size_t>(status.st_size);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(path);
  if (file.get() < 0) {
    fail(SLW_IO, path,
         system_text() + "; check the option 'paths' (relative to the manifest, or to the current folder)");
  }
  size_ = checked_size(file, path);
  void* memory = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) fail(SLW_IO, path, system_text());
  data_ = static_cast<const unsigned char*>(memory);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
