// Multiplies a tensor in host memory by a number, in place.
#pragma once

#include <slipway/sdk.hpp>

namespace ddp {

// Throws slw::Error unless scale() can handle such a tensor: fp32 or bf16 in host memory.
void check_scalable(const slw_tensor& tensor);
// Each product is rounded once to the tensor's type. REQUIRES: contiguous.
void scale(const slw_tensor& tensor, float factor);

}  // namespace ddp
