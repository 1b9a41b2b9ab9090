// A checkpoint: the folder step_00000100/ with one safetensors file a rank, index.json (which part of which global
// tensor lies where), state.json (the caller's text) and checksums.txt (size and XXH3 of every file). The byte format
// and the commit protocol are in README.md beside this file.
//
// To save: one rank calls begin_save; after a barrier every rank calls write_shard; the descriptions are gathered on
// one rank, which calls commit_checkpoint. A kill at any instant leaves the checkpoints committed before as they were.
// To load: newest_checkpoint, then CheckpointReader on every rank, in any layout.
// Nothing here communicates. Whatever is wrong with a folder is a CheckpointError naming the file; a disk that cannot
// be written is an Error with ExitCode::kCheckpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/cut.h"
#include "core/checkpoint/dtype.h"
#include "core/checkpoint/on_bytes.h"

namespace slipway {

// A part of a global tensor to save. `bytes` is read during write_shard only. Every element of a tensor is given by
// exactly one piece of one rank; a piece without elements is allowed and dropped.
struct Piece {
  std::string name;  // global
  DType dtype = DType::kF32;
  Shape global_shape;
  Cut cut;
  std::span<const std::byte> bytes;
};

// Where a piece was written.
struct StoredPiece {
  std::string name;
  DType dtype = DType::kF32;
  Shape global_shape;
  Cut cut;
  std::string file;    // in the checkpoint folder
  std::string tensor;  // its name inside that file
};

// Size and XXH3 (64 bits) of one file of the folder.
struct FileRecord {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t xxh3 = 0;
};

// What one rank wrote, as text between ranks. `files` is empty when the rank had nothing to write.
struct ShardDescription {
  std::vector<FileRecord> files;
  std::vector<StoredPiece> pieces;

  std::string to_json() const;
  static ShardDescription from_json(std::string_view text);
};

// The committed folder of a step: <root>/step_00000100.
std::filesystem::path checkpoint_folder(const std::filesystem::path& root, std::int64_t step);

// The folder in which that step is put together; loading never looks at it.
std::filesystem::path temporary_folder(const std::filesystem::path& root, std::int64_t step);

// Makes `root` and an empty temporary folder, removing what killed saves left behind; so one save at a time per root.
// [one rank]
std::filesystem::path begin_save(const std::filesystem::path& root, std::int64_t step);

// Writes this rank's pieces into the temporary folder and syncs them; `on_bytes` hears of each piece. [every rank,
// after begin_save]
ShardDescription write_shard(const std::filesystem::path& folder, int rank, std::span<const Piece> pieces,
                             const OnBytes& on_bytes = {});

// Checks that the pieces of all ranks cover every tensor exactly once, writes index.json, state.json and
// checksums.txt, renames the temporary folder to its final name (replacing an older checkpoint of that step in one
// move) and points `latest` to it. Returns the folder. [one rank, after every write_shard]
std::filesystem::path commit_checkpoint(const std::filesystem::path& root, std::int64_t step,
                                        std::span<const ShardDescription> shards, std::string_view state_json);

struct FoundCheckpoint {
  std::filesystem::path folder;
  std::int64_t step = 0;
  std::vector<std::string> notes;  // what was passed over and why, for the log
};

// The checkpoint that `latest` names; when that file is missing or names no folder, the complete one of the highest
// step (every file there with its size). nullopt when there is none; a `root` that does not exist has none. A damaged
// folder that `latest` names is not passed over: CheckpointReader says what is wrong with it.
std::optional<FoundCheckpoint> newest_checkpoint(const std::filesystem::path& root);

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};

// How the tensors wanted differ from those stored; all sorted by name.
struct TensorDifference {
  std::vector<std::string> missing;     // wanted, not stored
  std::vector<std::string> unexpected;  // stored, not wanted
  std::vector<std::string> changed;     // "name: stored F32 [4,8], wanted F32 [4,16]"

  bool empty() const { return missing.empty() && unexpected.empty() && changed.empty(); }
  std::string to_string() const;
};

// kSizes leaves out the pass over all bytes; the caller then spreads verify_checksums over the ranks.
enum class Verify { kChecksums, kSizes };

class CheckpointReader {
 public:
  // Opens a committed folder and checks it: every file with its size and checksum, the index against the shard
  // headers, every tensor covered exactly once.
  explicit CheckpointReader(std::filesystem::path folder, Verify verify = Verify::kChecksums);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  const std::filesystem::path& folder() const;
  std::int64_t step() const;

  // The text given to commit_checkpoint.
  const std::string& state() const;

  // Everything stored, sorted by name.
  const std::vector<TensorInfo>& tensors() const;
  const TensorInfo* find(std::string_view name) const;

  TensorDifference compare(std::span<const TensorInfo> wanted) const;

  // Throws, listing every difference, unless exactly the wanted tensors are stored.
  void require_same(std::span<const TensorInfo> wanted) const;

  // Reads one cut of a tensor, however it was cut when saved. `target` holds the cut's bytes, in the stored dtype.
  // Safe from several threads.
  void read(std::string_view name, const Cut& cut, std::span<std::byte> target) const;

  // Checks the checksums of files part, part + parts, ... of the folder: rank r of n passes (r, n).
  void verify_checksums(std::size_t part, std::size_t parts) const;

 private:
  struct Contents;
  std::unique_ptr<const Contents> contents_;
};

}  // namespace slipway
