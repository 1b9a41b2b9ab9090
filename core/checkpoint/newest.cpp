// newest_checkpoint: from which folder a run goes on.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/checksums.h"
#include "core/checkpoint/file_io.h"
#include "core/checkpoint/folder_names.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLatestBytes = 4096;

// False when nothing is there; anything but a folder is an error.
bool folder_exists(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return true;
    throw CheckpointError(path.string() + " is not a folder");
  }
  if (errno == ENOENT) return false;
  throw CheckpointError("cannot open " + path.string() + ": " + std::strerror(errno));
}

std::vector<std::int64_t> steps_in(const fs::path& root) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(root, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (const auto step = step_of_name(entry->path().filename().string())) steps.push_back(*step);
  }
  if (error) throw CheckpointError("cannot read the folder " + root.string() + ": " + error.message());
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

// Why the folder is not complete; empty when it is. Its contents are checked by the reader.
std::string incomplete_reason(const fs::path& folder) {
  try {
    for (const FileRecord& file : read_checksums(folder)) check_size(folder, file);
    return "";
  } catch (const CheckpointError& error) {
    return error.what();
  }
}

// The step that `latest` names, when its folder is there.
std::optional<std::int64_t> latest_step(const fs::path& root, std::vector<std::string>& notes) {
  const fs::path path = root / kLatestFile;
  if (!fs::exists(fs::symlink_status(path))) {
    notes.push_back(path.string() + " is not there");
    return std::nullopt;
  }
  const std::string name = trim(read_small_file(path, kMaxLatestBytes));
  const std::optional<std::int64_t> step = step_of_name(name);
  if (step && folder_exists(root / name)) return step;
  notes.push_back(path.string() + " names " + in_quotes(name) + ", which is not there");
  return std::nullopt;
}

}  // namespace

std::optional<FoundCheckpoint> newest_checkpoint(const fs::path& root) {
  if (!folder_exists(root)) return std::nullopt;
  FoundCheckpoint found;
  if (const auto step = latest_step(root, found.notes)) {
    found.step = *step;
    found.folder = checkpoint_folder(root, *step);
    return found;
  }
  for (const std::int64_t step : steps_in(root)) {
    found.step = step;
    found.folder = checkpoint_folder(root, step);
    const std::string reason = incomplete_reason(found.folder);
    if (reason.empty()) return found;
    found.notes.push_back("passed over " + found.folder.string() + ": " + reason);
  }
  return std::nullopt;
}

}  // namespace slipway
