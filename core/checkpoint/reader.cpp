// CheckpointReader: opens a committed folder, checks it, and reads any cut of any tensor.
#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/checksums.h"
#include "core/checkpoint/index.h"
#include "core/checkpoint/piece_reader.h"
#include "core/checkpoint/safetensors.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// index.json grows with ranks x tensors, state.json with what a plugin keeps; both stay far below.
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 32;

using Shards = std::map<std::string, SafetensorsReader, std::less<>>;

void require_listed(const std::vector<FileRecord>& files, const std::string& name, const fs::path& folder) {
  for (const FileRecord& file : files) {
    if (file.name == name) return;
  }
  throw CheckpointError((folder / name).string() + ": is needed, but " + kChecksumsFile + " does not list it");
}

void check_piece_against_file(const StoredPiece& piece, const SafetensorsReader& shard, const std::string& index_path) {
  const std::string where =
      index_path + ": tensor " + in_quotes(piece.name) + ": " + to_string(piece.cut) + " in " + piece.file;
  const SafetensorsEntry* entry = shard.find(piece.tensor);
  if (entry == nullptr) throw CheckpointError(where + ": that file has no tensor " + in_quotes(piece.tensor));
  const Shape shape = is_slice(piece.cut) ? piece.cut.shape : Shape{num_elements(piece.cut)};
  if (entry->dtype == piece.dtype && entry->shape == shape) return;
  throw CheckpointError(where + ": that file holds " + std::string(dtype_name(entry->dtype)) + " " +
                        to_string(entry->shape) + " instead of " + std::string(dtype_name(piece.dtype)) + " " +
                        to_string(shape));
}

Shards open_shards(const CheckpointIndex& index, const std::vector<FileRecord>& files, const fs::path& folder) {
  Shards shards;
  const std::string index_path = (folder / kIndexFile).string();
  for (const auto& [name, tensor] : index.tensors) {
    for (const StoredPiece& piece : tensor.pieces) {
      auto shard = shards.find(piece.file);
      if (shard == shards.end()) {
        require_listed(files, piece.file, folder);
        shard = shards.emplace(piece.file, SafetensorsReader(folder / piece.file)).first;
      }
      check_piece_against_file(piece, shard->second, index_path);
    }
  }
  return shards;
}

}  // namespace

struct CheckpointReader::Contents {
  fs::path folder;
  std::vector<FileRecord> files;
  CheckpointIndex index;
  std::string state;
  Shards shards;
  std::vector<TensorInfo> tensors;
};

CheckpointReader::CheckpointReader(fs::path folder, Verify verify) {
  Contents contents;
  contents.files = read_checksums(folder);
  for (const FileRecord& file : contents.files) {
    check_size(folder, file);
    const bool is_text = file.name == kIndexFile || file.name == kStateFile;
    if (is_text || verify == Verify::kChecksums) check_checksum(folder, file);
  }
  require_listed(contents.files, kIndexFile, folder);
  require_listed(contents.files, kStateFile, folder);
  const std::string index_path = (folder / kIndexFile).string();
  contents.index = index_from_json(read_small_file(index_path, kMaxTextBytes), index_path);
  check_coverage(contents.index, index_path);
  contents.state = read_small_file(folder / kStateFile, kMaxTextBytes);
  contents.shards = open_shards(contents.index, contents.files, folder);
  for (const auto& [name, tensor] : contents.index.tensors) contents.tensors.push_back(tensor.info);
  contents.folder = std::move(folder);
  contents_ = std::make_unique<const Contents>(std::move(contents));
}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

const fs::path& CheckpointReader::folder() const { return contents_->folder; }
std::int64_t CheckpointReader::step() const { return contents_->index.step; }
const std::string& CheckpointReader::state() const { return contents_->state; }
const std::vector<TensorInfo>& CheckpointReader::tensors() const { return contents_->tensors; }

const TensorInfo* CheckpointReader::find(std::string_view name) const {
  const auto found = contents_->index.tensors.find(name);
  return found == contents_->index.tensors.end() ? nullptr : &found->second.info;
}

void CheckpointReader::read(std::string_view name, const Cut& cut, std::span<std::byte> target) const {
  const std::string where = folder().string() + ": tensor " + in_quotes(name);
  const auto found = contents_->index.tensors.find(name);
  if (found == contents_->index.tensors.end()) throw CheckpointError(where + " is not in this checkpoint");
  const TensorInfo& info = found->second.info;
  if (const std::string problem = cut_problem(cut, info.shape); !problem.empty()) {
    throw CheckpointError(where + ": " + problem);
  }
  const std::int64_t size = dtype_size(info.dtype);
  SLW_CHECK(target.size() == static_cast<std::uint64_t>(num_elements(cut) * size));
  const std::vector<Box> wanted = boxes_of(cut);
  std::int64_t copied = 0;
  for (const StoredPiece& piece : found->second.pieces) {
    std::optional<PieceReader> file;
    const SafetensorsReader& shard = contents_->shards.at(piece.file);
    const std::uint64_t begin = shard.at(piece.tensor).begin;
    const auto copy = [&](std::int64_t source, std::int64_t position, std::int64_t count) {
      if (!file) file.emplace(shard.path());
      file->read(begin + static_cast<std::uint64_t>(source * size),
                 target.subspan(static_cast<std::size_t>(position * size), static_cast<std::size_t>(count * size)));
    };
    for (const Box& stored : boxes_of(piece.cut)) {
      for (const Box& box : wanted) copied += for_each_run(stored, box, copy);
    }
  }
  SLW_CHECK(copied == num_elements(cut));
}

void CheckpointReader::verify_checksums(std::size_t part, std::size_t parts) const {
  SLW_CHECK(parts > 0);
  for (std::size_t i = part; i < contents_->files.size(); i += parts) {
    check_checksum(contents_->folder, contents_->files[i]);
  }
}

}  // namespace slipway
