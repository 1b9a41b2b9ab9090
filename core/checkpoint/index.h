// index.json of a checkpoint: which part of which global tensor lies in which file. Plain values; any thread. Errors
// are CheckpointErrors that begin with `where`.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace slipway {

struct IndexedTensor {
  TensorInfo info;
  std::vector<StoredPiece> pieces;
};

struct CheckpointIndex {
  std::int64_t step = 0;
  std::map<std::string, IndexedTensor, std::less<>> tensors;
};

// Groups the pieces by tensor; throws when two pieces disagree on dtype or shape.
CheckpointIndex make_index(std::int64_t step, std::span<const StoredPiece> pieces, const std::string& where);

// Throws unless the pieces of every tensor hold each of its elements exactly once.
void check_coverage(const CheckpointIndex& index, const std::string& where);

std::string index_to_json(const CheckpointIndex& index, const std::string& where);
CheckpointIndex index_from_json(std::string_view text, const std::string& where);

// The part of a piece that index.json and shard descriptions share: file, tensor, offset, shape and, for a flat range
// of the slice, flat.
nlohmann::ordered_json piece_to_json(const StoredPiece& piece);

// Reads it back into a piece whose name, dtype and global_shape are set, and checks it.
void piece_from_json(const nlohmann::json& object, const std::string& where, StoredPiece& piece);

}  // namespace slipway
