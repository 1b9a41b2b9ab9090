// write_shard and ShardDescription: one rank's part of a checkpoint.
#include <cstdio>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/strings.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/index.h"
#include "core/checkpoint/json_text.h"
#include "core/checkpoint/safetensors.h"

namespace slipway {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kDescription = "description of a checkpoint shard";

std::string shard_name(int rank) {
  char name[40];
  std::snprintf(name, sizeof name, "rank_%05d.safetensors", rank);
  return name;
}

void check_piece(const Piece& piece) {
  const std::string where = "tensor " + in_quotes(piece.name);
  if (const std::string problem = cut_problem(piece.cut, piece.global_shape); !problem.empty()) {
    throw CheckpointError(where + ": " + problem);
  }
  const std::int64_t bytes = num_elements(piece.cut) * dtype_size(piece.dtype);
  if (static_cast<std::uint64_t>(bytes) == piece.bytes.size()) return;
  throw CheckpointError(where + ": cut " + to_string(piece.cut) + " of " + std::string(dtype_name(piece.dtype)) +
                        " takes " + std::to_string(bytes) + " bytes, given are " + std::to_string(piece.bytes.size()));
}

// A tensor that has no elements at all is kept, so that its name is.
bool is_dropped(const Piece& piece) { return num_elements(piece.cut) == 0 && num_elements(piece.global_shape) != 0; }

// Readable in any tool that lists the file: the global name, with the cut after it where it is a part.
std::string tensor_name(const Piece& piece) {
  return piece.cut == whole_cut(piece.global_shape) ? piece.name : piece.name + to_string(piece.cut);
}

}  // namespace

ShardDescription write_shard(const std::filesystem::path& folder, int rank, std::span<const Piece> pieces,
                             const OnBytes& on_bytes) {
  const std::string file = shard_name(rank);
  ShardDescription shard;
  std::vector<SafetensorsTensor> tensors;
  for (const Piece& piece : pieces) {
    check_piece(piece);
    if (is_dropped(piece)) continue;
    const Shape shape = is_slice(piece.cut) ? piece.cut.shape : Shape{num_elements(piece.cut)};
    tensors.push_back({tensor_name(piece), piece.dtype, shape, piece.bytes});
    shard.pieces.push_back({piece.name, piece.dtype, piece.global_shape, piece.cut, file, tensors.back().name});
  }
  if (tensors.empty()) return shard;
  const WrittenFile written = write_safetensors(folder / file, tensors, {}, on_bytes);
  sync_folder(folder.string(), ExitCode::kCheckpoint);
  shard.files.push_back({file, written.bytes, written.xxh3});
  return shard;
}

std::string ShardDescription::to_json() const {
  ordered_json document = {{"files", ordered_json::array()}, {"pieces", ordered_json::array()}};
  for (const FileRecord& file : files) {
    document["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"xxh3", file.xxh3}});
  }
  for (const StoredPiece& piece : pieces) {
    ordered_json object = {{"name", piece.name}, {"dtype", dtype_name(piece.dtype)}};
    object["global_shape"] = piece.global_shape;
    object["piece"] = piece_to_json(piece);
    document["pieces"].push_back(std::move(object));
  }
  return json_dump(document, kDescription);
}

ShardDescription ShardDescription::from_json(std::string_view text) {
  const json document = parse_json_object(text, kDescription);
  ShardDescription shard;
  for (const json& object : json_member(document, "files", kDescription)) {
    const json& hash = json_member(object, "xxh3", kDescription);
    if (!hash.is_number_unsigned()) throw CheckpointError(std::string(kDescription) + ": xxh3 is not a number");
    shard.files.push_back(
        {json_string(json_member(object, "name", kDescription), kDescription),
         static_cast<std::uint64_t>(json_count(json_member(object, "bytes", kDescription), kDescription)),
         hash.get<std::uint64_t>()});
  }
  for (const json& object : json_member(document, "pieces", kDescription)) {
    StoredPiece piece;
    piece.name = json_string(json_member(object, "name", kDescription), kDescription);
    const std::string dtype = json_string(json_member(object, "dtype", kDescription), kDescription);
    if (!dtype_from_name(dtype)) throw CheckpointError(std::string(kDescription) + ": no dtype " + dtype);
    piece.dtype = *dtype_from_name(dtype);
    piece.global_shape = json_counts(json_member(object, "global_shape", kDescription), kDescription);
    piece_from_json(json_member(object, "piece", kDescription), kDescription, piece);
    shard.pieces.push_back(std::move(piece));
  }
  return shard;
}

}  // namespace slipway
