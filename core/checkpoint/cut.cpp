#include "core/checkpoint/cut.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"

namespace slipway {
namespace {

constexpr std::size_t kMaxDims = 32;
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 8;

std::int64_t elements_of_dims(const Shape& shape, std::size_t first_dim) {
  std::int64_t product = 1;
  for (std::size_t dim = first_dim; dim < shape.size(); ++dim) product *= shape[dim];
  return product;
}

// Splits elements [begin, end) of the flattened dimensions from `dim` on, whose corner is `corner`, into boxes.
void split_flat_range(const Cut& cut, std::size_t dim, std::pair<std::int64_t, std::int64_t> range, Shape corner,
                      std::vector<Box>& boxes) {
  const auto add = [&](Shape offset, Shape shape, std::int64_t count) {
    const std::int64_t position = boxes.empty() ? 0 : boxes.back().position + elements_of_dims(boxes.back().shape, 0);
    if (count > 0) boxes.push_back({std::move(offset), std::move(shape), position});
  };
  const auto [begin, end] = range;
  if (begin >= end) return;
  if (dim == cut.shape.size()) return add(corner, Shape(corner.size(), 1), 1);
  const std::int64_t row_size = elements_of_dims(cut.shape, dim + 1);
  std::int64_t row = begin / row_size;
  const std::int64_t end_row = end / row_size;
  const auto part_of_row = [&](std::int64_t index, std::int64_t first, std::int64_t last) {
    Shape inner = corner;
    inner[dim] += index;
    split_flat_range(cut, dim + 1, {first, last}, inner, boxes);
  };
  if (row == end_row) return part_of_row(row, begin - row * row_size, end - row * row_size);
  if (begin % row_size != 0) {
    part_of_row(row, begin - row * row_size, row_size);
    ++row;
  }
  if (row < end_row) {
    Shape offset = corner;
    offset[dim] += row;
    Shape shape = cut.shape;
    for (std::size_t outer = 0; outer < dim; ++outer) shape[outer] = 1;
    shape[dim] = end_row - row;
    add(offset, shape, (end_row - row) * row_size);
  }
  part_of_row(end_row, 0, end - end_row * row_size);
}

// The overlap of two boxes of equal rank.
struct Overlap {
  Shape offset;
  Shape shape;
  bool empty = false;
};

Overlap overlap_of(const Box& a, const Box& b) {
  Overlap overlap;
  for (std::size_t dim = 0; dim < a.shape.size(); ++dim) {
    const std::int64_t begin = std::max(a.offset[dim], b.offset[dim]);
    const std::int64_t end = std::min(a.offset[dim] + a.shape[dim], b.offset[dim] + b.shape[dim]);
    overlap.offset.push_back(begin);
    overlap.shape.push_back(end - begin);
    overlap.empty = overlap.empty || end <= begin;
  }
  return overlap;
}

// Element position of a point of the global tensor in the bytes of the box's cut.
std::int64_t position_of(const Shape& point, const Box& box) {
  std::int64_t index = 0;
  for (std::size_t dim = 0; dim < point.size(); ++dim) index = index * box.shape[dim] + point[dim] - box.offset[dim];
  return box.position + index;
}

// The first of the trailing dimensions that make one contiguous run in both boxes.
std::size_t first_run_dim(const Shape& overlap, const Box& a, const Box& b) {
  std::size_t dim = overlap.size();
  while (dim > 0) {
    --dim;
    if (overlap[dim] != a.shape[dim] || overlap[dim] != b.shape[dim]) break;
  }
  return dim;
}

// Advances `point` over the overlap's dimensions below `num_dims`, the last fastest; false after the last point.
bool next_point(Shape& point, const Overlap& overlap, std::size_t num_dims) {
  for (std::size_t dim = num_dims; dim-- > 0;) {
    if (++point[dim] < overlap.offset[dim] + overlap.shape[dim]) return true;
    point[dim] = overlap.offset[dim];
  }
  return false;
}

}  // namespace

Cut whole_cut(const Shape& global_shape) { return slice_cut(Shape(global_shape.size(), 0), global_shape); }

Cut slice_cut(Shape offset, Shape shape) {
  const std::int64_t count = num_elements(shape).value_or(-1);
  return {std::move(offset), std::move(shape), 0, count};
}

Cut flat_cut(Cut slice, std::int64_t begin, std::int64_t end) {
  slice.flat_begin = begin;
  slice.flat_end = end;
  return slice;
}

bool is_slice(const Cut& cut) { return cut.flat_begin == 0 && cut.flat_end == num_elements(cut.shape); }

std::optional<std::int64_t> num_elements(const Shape& shape) {
  std::int64_t product = 1;
  bool has_zero = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(product, extent, &product) || product > kMaxElements) {
      return std::nullopt;
    }
  }
  return has_zero ? 0 : product;
}

std::string cut_problem(const Cut& cut, const Shape& global_shape) {
  if (global_shape.size() > kMaxDims) return "has more than " + std::to_string(kMaxDims) + " dimensions";
  if (!num_elements(global_shape)) return "has an impossible shape " + to_string(global_shape);
  if (cut.offset.size() != global_shape.size() || cut.shape.size() != global_shape.size()) {
    return "slice " + to_string(cut) + " does not have the dimensions of shape " + to_string(global_shape);
  }
  for (std::size_t dim = 0; dim < global_shape.size(); ++dim) {
    const bool fits = cut.offset[dim] >= 0 && cut.shape[dim] >= 0 && cut.offset[dim] <= global_shape[dim] &&
                      cut.shape[dim] <= global_shape[dim] - cut.offset[dim];
    if (!fits) {
      return "slice " + to_string(cut) + " leaves dimension " + std::to_string(dim) + " of shape " +
             to_string(global_shape);
    }
  }
  const std::int64_t slice_elements = num_elements(cut.shape).value_or(-1);
  if (cut.flat_begin < 0 || cut.flat_begin > cut.flat_end || cut.flat_end > slice_elements) {
    return "flat range [" + std::to_string(cut.flat_begin) + "," + std::to_string(cut.flat_end) +
           ") leaves a slice of " + std::to_string(slice_elements) + " elements";
  }
  return "";
}

std::string to_string(const Cut& cut) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < std::min(cut.offset.size(), cut.shape.size()); ++dim) {
    std::int64_t end = 0;
    const bool overflows = __builtin_add_overflow(cut.offset[dim], cut.shape[dim], &end);
    if (dim > 0) text += ',';
    text += std::to_string(cut.offset[dim]) + ":" + (overflows ? "overflow" : std::to_string(end));
  }
  text += ']';
  if (is_slice(cut)) return text;
  return text + "{" + std::to_string(cut.flat_begin) + ":" + std::to_string(cut.flat_end) + "}";
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t dim = 0; dim < shape.size(); ++dim) text += (dim > 0 ? "," : "") + std::to_string(shape[dim]);
  return text + "]";
}

std::vector<Box> boxes_of(const Cut& cut) {
  if (num_elements(cut) == 0) return {};
  if (is_slice(cut)) return {{cut.offset, cut.shape, 0}};
  std::vector<Box> boxes;
  split_flat_range(cut, 0, {cut.flat_begin, cut.flat_end}, cut.offset, boxes);
  return boxes;
}

std::int64_t for_each_run(const Box& source, const Box& target, const RunFunction& run) {
  SLW_CHECK(source.shape.size() == target.shape.size());
  const Overlap overlap = overlap_of(source, target);
  if (overlap.empty) return 0;
  const std::size_t run_dim = first_run_dim(overlap.shape, source, target);
  const std::int64_t run_length = elements_of_dims(overlap.shape, run_dim);
  Shape point = overlap.offset;
  std::int64_t total = 0;
  do {
    run(position_of(point, source), position_of(point, target), run_length);
    total += run_length;
  } while (next_point(point, overlap, run_dim));
  return total;
}

}  // namespace slipway
