// The CUDA parts of the core: a library that is loaded when a run asks for device memory, so that every other run
// starts without libtorch_cuda (0.9 s). Built when the build has CUDA; `slipway help build` says so.
#pragma once

#include <memory>
#include <string>

#include "core/comm/rendezvous.h"

namespace slipway {

class CudaLibrary {
 public:
  virtual ~CudaLibrary() = default;

  // GPUs that this process may use; 0 without a GPU or a driver, and then device_problem says why. [any]
  virtual int device_count() const = 0;
  virtual std::string device_problem() const = 0;
  virtual std::string device_name(int index) const = 0;

  // A group over NCCL whose tensors are on GPU `device`. Failures are CommErrors. [collective: request.ranks]
  virtual std::unique_ptr<Group> make_nccl_group(const RankStore& store, const GroupRequest& request,
                                                 int device) const = 0;
};

// lib/slipway/libslipway_cuda.so beside the folder of this program.
std::string cuda_library_path();

// Loads the library once a process; it stays loaded. Throws ConfigError when this build is without CUDA, the file is
// missing or belongs to another build, with the next move. [main thread]
const CudaLibrary& load_cuda_library(const std::string& path = cuda_library_path());

// What the library exports: its entry, and the builds that must agree before a class may cross.
using CudaLibraryEntry = const CudaLibrary* (*)(const char** build);
inline constexpr const char* kCudaLibraryEntry = "slipway_cuda_library_v1";
// Version of Slipway and of LibTorch.
std::string cuda_library_build();

}  // namespace slipway
