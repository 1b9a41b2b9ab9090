// Initial values under rng=megatron: drawn in declare order from the rank's streams, as Megatron-core does, so they
// depend on the layout. A parameter that declares a cut over tp draws its local part from model-parallel-rng, an
// expert's from expert-parallel-rng, others from data-parallel-rng. Element i of the local tensor, padding included, is
// lane i % 4 of block offset + i / 4 of the stream; padding is zero afterwards. Pure but for the tracker.
#pragma once

#include <cstdint>

#include "core/params/param.h"
#include "core/rng/stream_tracker.h"

namespace slipway {

// Fills the local tensor of `param` at `values`, row-major. REQUIRES: its rule is not SLW_INIT_CUSTOM.
void initialize_from_streams(const Param& param, StreamTracker& streams, float* values);

}  // namespace slipway
