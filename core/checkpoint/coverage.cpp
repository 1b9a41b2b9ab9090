// check_coverage of index.h: a sweep over the flattened tensor. A box lies between its first and its last element, so
// only boxes whose ranges meet are compared; those of one column cut meet each other, but there are few of them.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/checkpoint/index.h"

namespace slipway {
namespace {

struct PlacedBox {
  Box box;
  std::int64_t first = 0;  // flat index of its first element in the global tensor
  std::int64_t last = 0;
  const StoredPiece* piece = nullptr;
};

PlacedBox place(const Box& box, const StoredPiece& piece) {
  PlacedBox placed{box, 0, 0, &piece};
  for (std::size_t dim = 0; dim < box.shape.size(); ++dim) {
    placed.first = placed.first * piece.global_shape[dim] + box.offset[dim];
    placed.last = placed.last * piece.global_shape[dim] + box.offset[dim] + box.shape[dim] - 1;
  }
  return placed;
}

bool overlap(const Box& a, const Box& b) {
  for (std::size_t dim = 0; dim < a.shape.size(); ++dim) {
    if (a.offset[dim] >= b.offset[dim] + b.shape[dim] || b.offset[dim] >= a.offset[dim] + a.shape[dim]) return false;
  }
  return true;
}

std::string describe(const StoredPiece& piece) { return to_string(piece.cut) + " in " + piece.file; }

void check_disjoint(std::vector<PlacedBox>& boxes, const std::string& where) {
  std::sort(boxes.begin(), boxes.end(), [](const PlacedBox& a, const PlacedBox& b) { return a.first < b.first; });
  std::vector<const PlacedBox*> active;
  for (const PlacedBox& box : boxes) {
    std::erase_if(active, [&](const PlacedBox* before) { return before->last < box.first; });
    for (const PlacedBox* before : active) {
      if (!overlap(before->box, box.box)) continue;
      throw CheckpointError(where + " is given twice: " + describe(*before->piece) + " and " + describe(*box.piece) +
                            " overlap");
    }
    active.push_back(&box);
  }
}

void check_tensor(const IndexedTensor& tensor, const std::string& where) {
  const std::optional<std::int64_t> wanted = num_elements(tensor.info.shape);
  if (!wanted) throw CheckpointError(where + " has an impossible shape " + to_string(tensor.info.shape));
  std::vector<PlacedBox> boxes;
  std::int64_t covered = 0;
  for (const StoredPiece& piece : tensor.pieces) {
    for (const Box& box : boxes_of(piece.cut)) boxes.push_back(place(box, piece));
    if (__builtin_add_overflow(covered, num_elements(piece.cut), &covered)) {
      throw CheckpointError(where + " has too many pieces");
    }
  }
  check_disjoint(boxes, where);
  if (covered == *wanted) return;
  throw CheckpointError(where + ": its pieces hold " + std::to_string(covered) + " of its " + std::to_string(*wanted) +
                        " elements");
}

}  // namespace

void check_coverage(const CheckpointIndex& index, const std::string& where) {
  for (const auto& [name, tensor] : index.tensors) {
    check_tensor(tensor, where + ": tensor " + in_quotes(name));
  }
}

}  // namespace slipway
