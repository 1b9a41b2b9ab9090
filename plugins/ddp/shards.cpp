#include "plugins/ddp/shards.h"

#include <algorithm>

namespace ddp {

Range part_of(const Bucket& bucket, std::int64_t num_shards, std::int64_t rank) {
  if (num_shards == 1) return {bucket.begin, bucket.end};
  const std::int64_t size = (bucket.end - bucket.begin) / num_shards;
  return {bucket.begin + rank * size, bucket.begin + (rank + 1) * size};
}

std::vector<Shard> shards_of(const Layout& layout) {
  std::vector<Shard> shards;
  if (!layout.is_sharded) return shards;
  for (const Bucket& bucket : layout.buckets) {
    const std::int64_t num_shards = layout.buffers[static_cast<std::size_t>(bucket.buffer)].num_shards;
    const std::int64_t size = (bucket.end - bucket.begin) / num_shards;
    for (const Place& place : bucket.places) {
      const std::int64_t first = (place.offset - bucket.begin) / size;
      const std::int64_t last = (place.offset + place.numel - 1 - bucket.begin) / size;
      for (std::int64_t owner = first; owner <= last; ++owner) {
        const Range part = part_of(bucket, num_shards, owner);
        shards.push_back({place.param, static_cast<std::int32_t>(owner),
                          std::max<std::int64_t>(part.begin - place.offset, 0),
                          std::min(part.end - place.offset, place.numel)});
      }
    }
  }
  return shards;
}

}  // namespace ddp
