// begin_save and commit_checkpoint: how a checkpoint comes to be, all at once.
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/checksums.h"
#include "core/checkpoint/file_io.h"
#include "core/checkpoint/folder_names.h"
#include "core/checkpoint/index.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& action, const fs::path& path, const std::string& reason) {
  throw CheckpointError("cannot " + action + " " + path.string() + ": " + reason);
}

void remove_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove", path, error.message());
}

// A shard that its rank has written but this one does not see was written to another disk.
void check_shard_file(const fs::path& temporary, const FileRecord& file) {
  const fs::path path = temporary / file.name;
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (!error && bytes == file.bytes) return;
  throw CheckpointError(path.string() + (error ? ": " + error.message() : ": has " + std::to_string(bytes) + " bytes") +
                        ", but its rank wrote " + std::to_string(file.bytes) +
                        " bytes: all ranks must save to one shared folder");
}

bool is_leftover(const std::string& name) {
  return name.starts_with(kTemporaryPrefix) || name.starts_with(std::string(kLatestFile) + ".tmp.");
}

void remove_leftovers(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(root, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_leftover(entry->path().filename().string())) leftovers.push_back(entry->path());
  }
  if (error) fail("read the folder", root, error.message());
  for (const fs::path& path : leftovers) remove_folder(path);
}

FileRecord write_named(const fs::path& folder, const char* name, std::string_view text) {
  const WrittenFile written = write_text_file(folder / name, text);
  return {name, written.bytes, written.xxh3};
}

// Trades the two names in one move; false when the file system cannot.
bool exchange(const fs::path& a, const fs::path& b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0) return true;
  if (errno == EINVAL || errno == ENOSYS) return false;
  fail("move " + a.string() + " to", b, std::strerror(errno));
}

// An older checkpoint of the same step, left when a run is resumed from before it.
void replace_folder(const fs::path& root, const fs::path& temporary, const fs::path& target) {
  if (!exchange(temporary, target)) {
    const fs::path latest = root / kLatestFile;
    const bool is_latest = fs::exists(latest) && read_small_file(latest, 4096).starts_with(target.filename().string());
    if (is_latest) {
      fail("replace", target, "it is the newest checkpoint and this file system cannot trade two folders in one move");
    }
    remove_folder(target);
    if (::rename(temporary.c_str(), target.c_str()) != 0) fail("make", target, std::strerror(errno));
  }
  sync_folder(root.string(), ExitCode::kCheckpoint);
  remove_folder(temporary);
}

void move_into_place(const fs::path& root, const fs::path& temporary, const fs::path& target) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(target, error))) return replace_folder(root, temporary, target);
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("make", target, std::strerror(errno));
  sync_folder(root.string(), ExitCode::kCheckpoint);
}

}  // namespace

fs::path checkpoint_folder(const fs::path& root, std::int64_t step) { return root / step_name(step); }

fs::path temporary_folder(const fs::path& root, std::int64_t step) { return root / (".tmp_" + step_name(step)); }

fs::path begin_save(const fs::path& root, std::int64_t step) {
  SLW_CHECK(step >= 0);
  make_dirs(root.string(), ExitCode::kCheckpoint);
  remove_leftovers(root);
  const fs::path folder = temporary_folder(root, step);
  make_dirs(folder.string(), ExitCode::kCheckpoint);
  return folder;
}

fs::path commit_checkpoint(const fs::path& root, std::int64_t step, std::span<const ShardDescription> shards,
                           std::string_view state_json) {
  const fs::path temporary = temporary_folder(root, step);
  std::vector<FileRecord> files;
  std::vector<StoredPiece> pieces;
  for (const ShardDescription& shard : shards) {
    files.insert(files.end(), shard.files.begin(), shard.files.end());
    pieces.insert(pieces.end(), shard.pieces.begin(), shard.pieces.end());
  }
  for (const FileRecord& file : files) check_shard_file(temporary, file);
  const std::string where = "checkpoint of step " + std::to_string(step);
  const CheckpointIndex index = make_index(step, pieces, where);
  check_coverage(index, where);
  files.push_back(write_named(temporary, kIndexFile, index_to_json(index, where)));
  files.push_back(write_named(temporary, kStateFile, state_json));
  write_checksums(temporary, files);
  sync_folder(temporary.string(), ExitCode::kCheckpoint);
  const fs::path target = checkpoint_folder(root, step);
  move_into_place(root, temporary, target);
  write_file_atomic((root / kLatestFile).string(), target.filename().string() + "\n", ExitCode::kCheckpoint);
  return target;
}

}  // namespace slipway
