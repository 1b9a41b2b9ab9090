// A cut: which elements of a global tensor a rank holds. It is a range of the flattened elements of an n-d slice, so
// that one type says all three: a slice (tensor parallel), a flat range of the whole tensor, and a flat range of a
// slice (a distributed optimizer's shard of a tensor-parallel parameter). A cut's bytes are its elements in that
// order, packed. Plain values; any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace slipway {

using Shape = std::vector<std::int64_t>;

struct Cut {
  Shape offset;  // of the slice in the global tensor
  Shape shape;   // of the slice
  std::int64_t flat_begin = 0;
  std::int64_t flat_end = 0;

  bool operator==(const Cut&) const = default;
};

// The whole tensor.
Cut whole_cut(const Shape& global_shape);

// A slice.
Cut slice_cut(Shape offset, Shape shape);

// Elements [begin, end) of the flattened slice; with whole_cut's slice, of the flattened tensor.
Cut flat_cut(Cut slice, std::int64_t begin, std::int64_t end);

inline std::int64_t num_elements(const Cut& cut) { return cut.flat_end - cut.flat_begin; }

// True when the cut is a whole slice, not a part of its flattened elements.
bool is_slice(const Cut& cut);

// Product of the extents; nullopt when one is negative or the product times 8 bytes leaves 63 bits.
std::optional<std::int64_t> num_elements(const Shape& shape);

// Why the cut is not one of a tensor of this shape ("slice [0:8] ends past dimension 0 of size 4"); empty when it is.
std::string cut_problem(const Cut& cut, const Shape& global_shape);

// "[0:4,8:16]", with "{3:9}" after it for a flat range of the slice; "[]" for a scalar.
std::string to_string(const Cut& cut);
std::string to_string(const Shape& shape);

// An n-d slice whose elements lie packed, row-major, from element `position` of its cut's bytes.
struct Box {
  Shape offset;
  Shape shape;
  std::int64_t position = 0;
};

// The cut as few boxes (one for a slice, at most 2 n - 1), by rising position.
// REQUIRES: cut_problem(cut, global shape) is empty.
std::vector<Box> boxes_of(const Cut& cut);

// `run(source, target, count)` for every contiguous run of elements that both boxes hold, where source and target are
// element positions in the bytes of the two cuts; both rise from call to call. Returns the number of elements.
using RunFunction = std::function<void(std::int64_t source, std::int64_t target, std::int64_t count)>;
std::int64_t for_each_run(const Box& source, const Box& target, const RunFunction& run);

}  // namespace slipway
