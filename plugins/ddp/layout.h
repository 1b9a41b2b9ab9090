// Where parameters and gradients lie and which ranges are reduced together: a pure function of the table, the same on
// every rank and whether reduction overlaps or not. Plain values; any thread.
#pragma once

#include <cstdint>
#include <slipway/sdk.hpp>
#include <string>
#include <vector>

namespace ddp {

struct LayoutOptions {
  std::int64_t bucket_size;  // elements: a bucket closes with the parameter that reaches it
  slw_dtype param, grad;     // of the run; a parameter may declare a parameter dtype of its own
};

struct Buffer {
  slw_dtype param, grad;
  std::string group;  // the ranks that hold copies of it
  std::int32_t chunk;
  std::int64_t numel;
};

// Elements [begin, end) of a buffer: the gradients of `params` and the gaps between them.
struct Bucket {
  std::int32_t buffer;
  std::int64_t begin, end;
  std::vector<std::int32_t> params;
};

struct Place {
  std::int32_t param, buffer;
  std::int64_t offset;
};

struct Layout {
  std::vector<Buffer> buffers;
  std::vector<Bucket> buckets;  // in the order of their reduction
  std::vector<Place> places;
};

// Parameters in backward order, one buffer for each (chunk, group, parameter dtype). A tie has a bucket of its own, so
// that the stages that share it reduce it alike. Throws slw::Error for a table that contradicts itself.
Layout make_layout(slw::Items<const slw_dp_param> params, const LayoutOptions& options);

}  // namespace ddp
