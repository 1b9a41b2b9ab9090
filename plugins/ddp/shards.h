// How buckets are cut: every bucket into equal contiguous parts, one for each rank of its group, wherever parameters
// begin and end. Pure functions; any thread.
#pragma once

#include "plugins/ddp/layout.h"

namespace ddp {

// Elements [begin, end) of a buffer.
struct Range {
  std::int64_t begin, end;
};

// The part of `rank`; all of the bucket when it is not cut.
Range part_of(const Bucket& bucket, std::int64_t num_shards, std::int64_t rank);

// Elements [begin, end) of a parameter that lie in the part of rank `owner` of its group.
struct Shard {
  std::int32_t param, owner;
  std::int64_t begin, end;
};

// In the order of the buckets; none for a layout that is not sharded. Empty ones are left out: a parameter has shards
// with as many ranks as it touches parts, at least one.
std::vector<Shard> shards_of(const Layout& layout);

}  // namespace ddp
