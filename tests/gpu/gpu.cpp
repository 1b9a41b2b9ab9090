#include "tests/gpu/gpu.h"

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <stdexcept>

namespace slipway {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

}  // namespace

const CudaLibrary& cuda_library() {
  return load_cuda_library(std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/lib/slipway/libslipway_cuda.so");
}

void GpuTest::SetUp() {
  if (cuda_library().device_count() == 0) GTEST_SKIP() << "no GPU found: " << cuda_library().device_problem();
}

DeviceFloats::DeviceFloats(int device, const std::vector<float>& values)
    : device_(device), shape_(static_cast<int64_t>(values.size())) {
  void* memory = nullptr;
  const size_t bytes = values.size() * sizeof(float);
  check(cudaSetDevice(device));
  check(cudaMalloc(&memory, bytes));
  check(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
  tensor_ = {memory, {SLW_DEVICE_CUDA, device}, 1, {SLW_CODE_FLOAT, 32, 1}, &shape_, &stride_, 0};
}

DeviceFloats::~DeviceFloats() { cudaFree(tensor_.data); }

std::vector<float> DeviceFloats::read() const {
  std::vector<float> values(static_cast<size_t>(shape_));
  check(cudaSetDevice(device_));
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(values.data(), tensor_.data, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace slipway
