// Initial values, a pure function of (seed, parameter name, global index): any slice in any layout draws the numbers
// that the whole tensor would have drawn (slipway/philox.h).
#pragma once

#include <cstdint>
#include <vector>

#include "core/params/param.h"

namespace slipway {

// A box of a parameter in padded global coordinates. Its elements lie `strides` apart at `values`; the last dimension
// is contiguous.
struct ParamSlice {
  std::vector<int64_t> offset, shape, strides;
  float* values;
};

// Fills `slice` by the declared rule; elements in the padding become 0. REQUIRES: rule is not SLW_INIT_CUSTOM.
void initialize_slice(const ParamDeclaration& param, uint64_t seed, const ParamSlice& slice);

// The whole local tensor of `param` at `values`, row-major. REQUIRES: as above.
void initialize_local(const Param& param, uint64_t seed, float* values);

// Key of slipway/philox.h for initial values of `param`.
uint64_t init_key(const ParamDeclaration& param, uint64_t seed);

}  // namespace slipway
