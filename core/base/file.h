// Whole-file reading and crash-safe writing. Every failure is an Error that names the path and the system's reason and
// carries the exit code `blame` of the caller's subject (data, checkpoint, usage). Any thread; a path by one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace slipway {

// What the system says to an errno and, of a full disk, what to do next.
std::string system_reason(int code);

std::string read_file(const std::string& path, ExitCode blame);
std::uint64_t file_bytes(const std::string& path, ExitCode blame);

// Makes the folder and its parents; no error when it is there.
void make_dirs(const std::string& path, ExitCode blame);
// Makes a rename or a new name inside the folder survive a power cut.
void sync_folder(const std::string& path, ExitCode blame);

// A file that is seen under its name only when it is complete and on the disk: bytes go to a temporary name beside it;
// commit syncs, renames over `path` and syncs the folder. Destroyed without commit, the temporary file is removed.
class AtomicFile {
 public:
  AtomicFile(std::string path, ExitCode blame);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  // REQUIRES: not committed yet.
  void commit();

 private:
  [[noreturn]] void fail(const char* action) const;

  std::string path_;
  std::string temporary_;
  ExitCode blame_;
  int fd_ = -1;
};

void write_file_atomic(const std::string& path, std::string_view bytes, ExitCode blame);

}  // namespace slipway
