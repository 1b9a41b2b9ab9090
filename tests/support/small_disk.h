// A folder whose disk fills up when a test says so. Where this process may mount, it is a tmpfs of its own in a mount
// namespace of this process and the programs it starts; else a limit on the size of each file stands for it. Which of
// the two is printed. One at a time in a process that has one thread; one owner.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <filesystem>

#include "tests/support/temp_folder.h"

namespace slipway {

class SmallDisk {
 public:
  explicit SmallDisk(std::uint64_t bytes);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }
  // From here on there is room for `bytes` more, or with a limit: no file gets larger than `bytes`.
  void leave(std::uint64_t bytes);
  // There is room again.
  void make_room();

 private:
  std::filesystem::path filler() const { return path() / "filler"; }

  TempFolder folder_;
  bool is_mounted_ = false;
  rlimit limit_before_{};
};

}  // namespace slipway
