// Which samples a rank reads: integer arithmetic over the count of samples consumed, the same order for any number of
// ranks and any micro-batch size (Megatron's sequential sampler). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace slipway {

struct SamplerGrid {
  int64_t micro_batch = 1;
  int64_t dp_size = 1;
  int64_t dp_rank = 0;
};

// Ordinals of microbatch `microbatch` of the step that starts after `consumed` samples: row i of rank r reads
// consumed + (microbatch x dp_size + r) x micro_batch + i.
std::vector<int64_t> microbatch_ordinals(const SamplerGrid& grid, int64_t consumed, int64_t microbatch);

}  // namespace slipway
