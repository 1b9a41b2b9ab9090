#include "core/params/local_layout.h"

#include <algorithm>

#include "core/base/error.h"

namespace slipway {
namespace {

struct Range {
  int64_t begin, end;
};

GroupPlace place_of(const GroupPlaces& places, const std::string& group) {
  const auto found = places.find(group);
  return found == places.end() ? GroupPlace{} : found->second;
}

void require_divisible(const ParamDeclaration& param, const slw_cut& cut, int64_t length, int64_t parts, int ranks) {
  if (length % (parts * ranks) == 0) return;
  std::string sizes;
  for (int n = 1; n <= 2 * ranks; ++n) {
    if (length % (parts * n) == 0) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
  }
  throw ConfigError("parameter " + param.name() + " " + shape_text(param.padded_shape()) + ": dimension " +
                    std::to_string(cut.dim) + " (" + std::to_string(length / parts) +
                    (parts > 1 ? " in each of " + std::to_string(parts) + " parts" : "") + ") is cut over " +
                    std::to_string(ranks) + " ranks of group " + cut.group + ", which does not divide it; sizes of " +
                    cut.group + " that do: " + sizes);
}

// The ranges of one dimension that stay here after `cut`.
std::vector<Range> cut_ranges(const ParamDeclaration& param, const slw_cut& cut, const GroupPlace& place,
                              const std::vector<Range>& ranges) {
  const int64_t parts = std::max<int64_t>(1, cut.parts);
  std::vector<Range> mine;
  for (const Range& range : ranges) {
    const int64_t length = range.end - range.begin;
    require_divisible(param, cut, length, parts, place.size);
    const int64_t part = length / parts, piece = part / place.size;
    for (int64_t p = 0; p < parts; ++p) {
      const int64_t begin = range.begin + p * part + place.rank * piece;
      mine.push_back({begin, begin + piece});
    }
  }
  return mine;
}

// Ranges that follow each other are one.
std::vector<Range> merged(const std::vector<Range>& ranges) {
  std::vector<Range> result;
  for (const Range& range : ranges) {
    if (!result.empty() && result.back().end == range.begin) {
      result.back().end = range.end;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

// Every block again for each range of the next dimension.
std::vector<LocalBlock> extended(const std::vector<LocalBlock>& blocks, const std::vector<Range>& ranges) {
  std::vector<LocalBlock> result;
  for (const LocalBlock& block : blocks) {
    int64_t local = 0;
    for (const Range& range : ranges) {
      LocalBlock& next = result.emplace_back(block);
      next.local_offset.push_back(local);
      next.global_offset.push_back(range.begin);
      next.shape.push_back(range.end - range.begin);
      local += range.end - range.begin;
    }
  }
  return result;
}

}  // namespace

LocalLayout local_layout(const ParamDeclaration& param, const GroupPlaces& places) {
  LocalLayout layout;
  layout.blocks.emplace_back();
  for (size_t d = 0; d < param.padded_shape().size(); ++d) {
    std::vector<Range> ranges{{0, param.padded_shape()[d]}};
    for (uint32_t i = 0; i < param.decl().num_cuts; ++i) {
      const slw_cut& cut = *param.decl().cuts[i];
      if (cut.dim == static_cast<int32_t>(d)) ranges = cut_ranges(param, cut, place_of(places, cut.group), ranges);
    }
    ranges = merged(ranges);
    layout.blocks = extended(layout.blocks, ranges);
    int64_t extent = 0;
    for (const Range& range : ranges) extent += range.end - range.begin;
    layout.shape.push_back(extent);
  }
  return layout;
}

}  // namespace slipway
