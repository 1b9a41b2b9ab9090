// The memory that LibTorch takes for tensors on the CPU.
#pragma once

#include "core/base/memory_pool.h"

namespace slipway {

// From now on tensors of this process come from one pool that lives as long as the process; it also counts them. Called
// again it returns the same pool. Before other threads start.
MemoryPool& use_memory_pool();

}  // namespace slipway
