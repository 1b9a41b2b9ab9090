#include "core/comm/compute_threads.h"

#include <ATen/Parallel.h>

namespace slipway {

void set_compute_threads(int count) { at::set_num_threads(count); }

const char* libtorch_build() { return SLIPWAY_TORCH_BUILD; }

}  // namespace slipway
