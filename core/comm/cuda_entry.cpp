// The entry of the CUDA library.
#include <cuda_runtime_api.h>

#include "core/comm/cuda_library.h"
#include "core/comm/group_nccl.h"

#ifndef SLIPWAY_CUDA_LIBRARY_BUILD
#error "the build says which Slipway and LibTorch this library belongs to"
#endif

namespace slipway {
namespace {

class Cuda : public CudaLibrary {
 public:
  int device_count() const override {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
  }
  std::string device_problem() const override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) return cudaGetErrorString(status);
    return count == 0 ? "no GPU was found" : "";
  }
  std::string device_name(int index) const override {
    cudaDeviceProp properties{};
    const cudaError_t status = cudaGetDeviceProperties(&properties, index);
    return status == cudaSuccess ? properties.name : cudaGetErrorString(status);
  }
  std::unique_ptr<Group> make_nccl_group(const RankStore& store, const GroupRequest& request,
                                         int device) const override {
    return connect_nccl_group(store, request, device);
  }
};

}  // namespace
}  // namespace slipway

extern "C" __attribute__((visibility("default"))) const slipway::CudaLibrary* slipway_cuda_library_v1(
    const char** build) {
  static const slipway::Cuda library;
  *build = SLIPWAY_CUDA_LIBRARY_BUILD;
  return &library;
}
