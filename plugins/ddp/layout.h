// Where parameters and gradients lie and which ranges are reduced together: a pure function of the table, the same on
// every rank of a stage and whether reduction overlaps or not. Plain values; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <slipway/sdk.hpp>
#include <string>
#include <vector>

namespace ddp {

struct LayoutOptions {
  // A bucket closes with the parameter that reaches this; unset: never. Chunks after the first have no limit.
  std::optional<std::int64_t> bucket_size;  // elements
  std::optional<std::int64_t> num_buckets;  // replaces bucket_size by all parameters divided by this
  slw_dtype param = slw::any_dtype;         // of the run; a parameter may declare one of its own
  bool is_grad_fp32 = true;                 // gradients are fp32; else as their parameters

  // Every bucket is cut into as many equal shards as its group has ranks. Empty: nothing is cut.
  std::map<std::string, std::int64_t> ranks_of_group;
  std::int64_t granularity = 64;  // elements; a bucket ends at a multiple of it and of its shards
};

struct Buffer {
  slw_dtype param, grad;
  std::string group;  // the ranks that hold copies of it
  std::int32_t chunk;
  std::int64_t numel;
  std::int64_t num_shards;  // of each bucket
};

struct Place {
  std::int32_t param, buffer;
  std::int64_t offset, numel;
};

// Elements [begin, end) of a buffer: the gradients of some parameters and the gaps between them.
struct Bucket {
  std::int32_t buffer;
  std::int64_t begin, end;
  std::vector<Place> places;
};

struct Layout {
  std::vector<Buffer> buffers;
  std::vector<Bucket> buckets;  // in the order of their reduction
  std::vector<Place> places;
  bool is_sharded = false;
};

// Parameters in backward order, one buffer for each (chunk, group, parameter dtype). A tie has a bucket of its own, so
// that the stages that share it reduce it alike. Throws slw::Error for a table that contradicts itself.
Layout make_layout(slw::Items<const slw_dp_param> params, const LayoutOptions& options);

}  // namespace ddp
