// The norm of gradients in device memory. The bits are the same in every run and for every GPU; they differ from the
// CPU's in the last places, because the partial sums are cut otherwise.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace slipway {

// Sum of squares of `n` floats at `values`, both in device memory, into the double `result` in device memory.
// `workspace`: norm_workspace_doubles() doubles in device memory. In stream order; returns the cudaError_t of the
// launches, 0 is success.
int sum_of_squares_cuda(const float* values, int64_t n, double* workspace, double* result, CUstream_st* stream);
int64_t norm_workspace_doubles();

}  // namespace slipway
