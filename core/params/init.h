// Initial values, a pure function of (seed, parameter name, global index): any slice in any layout draws the numbers
// that the whole tensor would have drawn (slipway/philox.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/params/param.h"

namespace slipway {

// A part of a parameter in padded global coordinates, row-major and contiguous at `values`.
struct ParamSlice {
  std::vector<int64_t> offset, shape;
  float* values;
};

// Fills `slice` by the declared rule; elements in the padding become 0. REQUIRES: rule is not SLW_INIT_CUSTOM.
void initialize_slice(const ParamDeclaration& param, uint64_t seed, const ParamSlice& slice);

// Key of slipway/philox.h for initial values of `param`.
uint64_t init_key(const ParamDeclaration& param, uint64_t seed);

}  // namespace slipway
