#include "core/optim/norm_cuda.h"

namespace slipway {
namespace {

constexpr int kThreads = 256, kBlocks = 512;  // fixed, so that the sums are cut alike on every GPU

// Sums `value` over the block; the result is valid on thread 0. Pairs in a fixed tree.
__device__ double block_sum(double value) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  return sums[0];
}

__global__ void partial_squares(const float* values, int64_t n, double* partial) {
  double sum = 0;
  const int64_t stride = int64_t{kThreads} * kBlocks;
  for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < n; i += stride) {
    const double value = values[i];
    sum += value * value;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

__global__ void total(const double* partial, double* result) {
  double sum = 0;
  for (int i = threadIdx.x; i < kBlocks; i += kThreads) sum += partial[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *result = sum;
}

}  // namespace

int64_t norm_workspace_doubles() { return kBlocks; }

int sum_of_squares_cuda(const float* values, int64_t n, double* workspace, double* result, CUstream_st* stream) {
  partial_squares<<<kBlocks, kThreads, 0, stream>>>(values, n, workspace);
  total<<<1, kThreads, 0, stream>>>(workspace, result);
  return cudaGetLastError();
}

}  // namespace slipway
