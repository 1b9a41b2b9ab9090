#include "tests/support/small_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace slipway {
namespace {

void write_text(const char* path, const std::string& text) { std::ofstream(path) << text; }

// A mount namespace of this process; without the right to it, one inside a user namespace in which it has the right.
bool enter_mount_namespace() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", std::to_string(user) + " " + std::to_string(user) + " 1");
    write_text("/proc/self/gid_map", std::to_string(group) + " " + std::to_string(group) + " 1");
  }
  // What is mounted here stays here.
  return ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

bool mount_tmpfs(const std::filesystem::path& folder, std::uint64_t bytes) {
  const std::string size = "size=" + std::to_string(bytes);
  return enter_mount_namespace() && ::mount("tmpfs", folder.c_str(), "tmpfs", MS_NODEV | MS_NOSUID, size.c_str()) == 0;
}

}  // namespace

SmallDisk::SmallDisk(std::uint64_t bytes) {
  is_mounted_ = mount_tmpfs(path(), bytes);
  std::cout << "the disk that fills up is "
            << (is_mounted_ ? "a tmpfs of " + std::to_string(bytes) + " bytes"
                            : std::string("a limit on the size of files: this process may not mount"))
            << "\n"
            << std::flush;
  ::getrlimit(RLIMIT_FSIZE, &limit_before_);
}

SmallDisk::~SmallDisk() {
  make_room();
  if (is_mounted_) ::umount2(path().c_str(), MNT_DETACH);
}

void SmallDisk::leave(std::uint64_t bytes) {
  if (!is_mounted_) {
    const rlimit small{bytes, limit_before_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) throw std::runtime_error("cannot limit the size of files");
    return;
  }
  const std::filesystem::space_info space = std::filesystem::space(path());
  if (space.available < bytes) throw std::runtime_error("the small disk is fuller than it should become");
  const int fd = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool filled = fd >= 0 && ::posix_fallocate(fd, 0, static_cast<off_t>(space.available - bytes)) == 0;
  ::close(fd);
  if (!filled) throw std::runtime_error("cannot fill the small disk");
}

void SmallDisk::make_room() {
  if (!is_mounted_) ::setrlimit(RLIMIT_FSIZE, &limit_before_);
  std::error_code ignored;
  std::filesystem::remove(filler(), ignored);
}

}  // namespace slipway
