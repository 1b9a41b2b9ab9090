#include "core/checkpoint/index.h"

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/checksums.h"
#include "core/checkpoint/json_text.h"

namespace slipway {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kFormat = "slipway-checkpoint";
constexpr std::int64_t kVersion = 1;

std::string describe(DType dtype, const Shape& shape) {
  return std::string(dtype_name(dtype)) + " " + to_string(shape);
}

void add_piece(CheckpointIndex& index, const StoredPiece& piece, const std::string& where) {
  IndexedTensor& tensor = index.tensors[piece.name];
  if (tensor.pieces.empty()) tensor.info = {piece.name, piece.dtype, piece.global_shape};
  if (tensor.info.dtype != piece.dtype || tensor.info.shape != piece.global_shape) {
    throw CheckpointError(where + ": tensor " + in_quotes(piece.name) + " is " +
                          describe(tensor.info.dtype, tensor.info.shape) + " in " + tensor.pieces.front().file +
                          ", but " + describe(piece.dtype, piece.global_shape) + " in " + piece.file);
  }
  tensor.pieces.push_back(piece);
}

DType dtype_from_json(const json& value, const std::string& where) {
  const std::string name = json_string(value, where);
  const std::optional<DType> dtype = dtype_from_name(name);
  if (!dtype) {
    throw CheckpointError(where + ": " + in_quotes(name) + " is not one of " + std::string(dtype_names()));
  }
  return *dtype;
}

IndexedTensor tensor_from_json(const std::string& name, const json& object, const std::string& where) {
  IndexedTensor tensor;
  tensor.info.name = name;
  tensor.info.dtype = dtype_from_json(json_member(object, "dtype", where), where + ": dtype");
  tensor.info.shape = json_counts(json_member(object, "shape", where), where + ": shape");
  const json& pieces = json_member(object, "pieces", where);
  if (!pieces.is_array()) throw CheckpointError(where + ": pieces is not a list");
  for (const json& item : pieces) {
    StoredPiece piece{name, tensor.info.dtype, tensor.info.shape, {}, {}, {}};
    piece_from_json(item, where + ": piece " + std::to_string(tensor.pieces.size()), piece);
    tensor.pieces.push_back(std::move(piece));
  }
  return tensor;
}

}  // namespace

CheckpointIndex make_index(std::int64_t step, std::span<const StoredPiece> pieces, const std::string& where) {
  CheckpointIndex index;
  index.step = step;
  for (const StoredPiece& piece : pieces) add_piece(index, piece, where);
  return index;
}

ordered_json piece_to_json(const StoredPiece& piece) {
  ordered_json object = {{"file", piece.file}, {"tensor", piece.tensor}};
  object["offset"] = piece.cut.offset;
  object["shape"] = piece.cut.shape;
  if (!is_slice(piece.cut)) object["flat"] = {piece.cut.flat_begin, piece.cut.flat_end};
  return object;
}

void piece_from_json(const json& object, const std::string& where, StoredPiece& piece) {
  piece.file = json_string(json_member(object, "file", where), where + ": file");
  piece.tensor = json_string(json_member(object, "tensor", where), where + ": tensor");
  piece.cut = slice_cut(json_counts(json_member(object, "offset", where), where + ": offset"),
                        json_counts(json_member(object, "shape", where), where + ": shape"));
  if (object.contains("flat")) {
    const Shape flat = json_counts(object["flat"], where + ": flat");
    if (flat.size() != 2) throw CheckpointError(where + ": flat is not two numbers");
    piece.cut = flat_cut(piece.cut, flat[0], flat[1]);
  }
  std::string problem = file_name_problem(piece.file);
  if (problem.empty()) problem = cut_problem(piece.cut, piece.global_shape);
  if (!problem.empty()) throw CheckpointError(where + ": " + problem);
}

std::string index_to_json(const CheckpointIndex& index, const std::string& where) {
  ordered_json tensors = ordered_json::object();
  for (const auto& [name, tensor] : index.tensors) {
    ordered_json pieces = ordered_json::array();
    for (const StoredPiece& piece : tensor.pieces) pieces.push_back(piece_to_json(piece));
    ordered_json entry = {{"dtype", dtype_name(tensor.info.dtype)}};
    entry["shape"] = tensor.info.shape;
    entry["pieces"] = std::move(pieces);
    tensors.push_back({name, std::move(entry)});
  }
  ordered_json document = {{"format", kFormat}, {"version", kVersion}, {"step", index.step}};
  document["tensors"] = std::move(tensors);
  return json_dump(document, where) + "\n";
}

CheckpointIndex index_from_json(std::string_view text, const std::string& where) {
  const json document = parse_json_object(text, where);
  if (json_string(json_member(document, "format", where), where + ": format") != kFormat) {
    throw CheckpointError(where + ": format is not \"" + kFormat + "\"");
  }
  const std::int64_t version = json_count(json_member(document, "version", where), where + ": version");
  if (version != kVersion) {
    throw CheckpointError(where + ": has version " + std::to_string(version) + ", this program reads version " +
                          std::to_string(kVersion));
  }
  CheckpointIndex index;
  index.step = json_count(json_member(document, "step", where), where + ": step");
  const json& tensors = json_member(document, "tensors", where);
  if (!tensors.is_object()) throw CheckpointError(where + ": tensors is not a JSON object");
  for (const auto& [name, object] : tensors.items()) {
    index.tensors[name] = tensor_from_json(name, object, where + ": tensor " + in_quotes(name));
  }
  return index;
}

}  // namespace slipway
