#include "core/comm/cuda_library.h"

#include <dlfcn.h>

#include <filesystem>

#include "core/base/build_info.h"
#include "core/base/error.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

CudaLibraryEntry entry_of(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw ConfigError("the CUDA library " + path + " does not load: " + dlerror() +
                      "; build and install Slipway whole, and check that the CUDA toolkit it was built with is here");
  }
  void* symbol = dlsym(handle, kCudaLibraryEntry);
  if (symbol == nullptr) throw ConfigError(path + " is no CUDA library of Slipway: it lacks " + kCudaLibraryEntry);
  return reinterpret_cast<CudaLibraryEntry>(symbol);
}

}  // namespace

std::string cuda_library_path() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return (program.parent_path().parent_path() / "lib/slipway/libslipway_cuda.so").string();
}

std::string cuda_library_build() {
  const BuildInfo info = build_info();
  return info.version + " with LibTorch " + info.libtorch;
}

const CudaLibrary& load_cuda_library(const std::string& path) {
  const BuildInfo info = build_info();
  if (!info.has_cuda) {
    throw ConfigError("this build is without CUDA (" + info.cuda +
                      "); build with cmake -DSLIPWAY_CUDA=ON, or use train.device cpu (slipway help build says more)");
  }
  if (!fs::exists(path)) throw ConfigError("the CUDA library " + path + " is missing; build and install Slipway whole");
  const char* build = "";
  const CudaLibrary* library = entry_of(path)(&build);
  if (build != cuda_library_build()) {
    throw ConfigError("the CUDA library " + path + " belongs to Slipway " + build + ", this program is " +
                      cuda_library_build() + "; build and install Slipway whole");
  }
  return *library;
}

}  // namespace slipway
