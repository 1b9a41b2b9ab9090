#include "core/data/sampler.h"

namespace slipway {

std::vector<int64_t> microbatch_ordinals(const SamplerGrid& grid, int64_t consumed, int64_t microbatch) {
  const int64_t first = consumed + (microbatch * grid.dp_size + grid.dp_rank) * grid.micro_batch;
  std::vector<int64_t> ordinals(static_cast<size_t>(grid.micro_batch));
  for (int64_t i = 0; i < grid.micro_batch; ++i) ordinals[static_cast<size_t>(i)] = first + i;
  return ordinals;
}

}  // namespace slipway
