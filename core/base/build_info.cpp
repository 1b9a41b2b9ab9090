#include "core/base/build_info.h"

#include <build_values.h>

namespace slipway {

BuildInfo build_info() {
  using namespace build_values;
  return {kVersion, kBuildType, kCompiler, kLibtorch, kLibtorchPath, kHasCuda, kCuda, kNccl};
}

std::string build_info_text(const BuildInfo& info) {
  std::string text = "This build of Slipway " + info.version + "\n";
  const auto line = [&](std::string name, const std::string& value) {
    name.resize(14, ' ');
    text += "  " + name + value + "\n";
  };
  line("build type", info.build_type);
  line("compiler", info.compiler);
  line("LibTorch", info.libtorch + " at " + info.libtorch_path);
  line("CUDA", info.cuda);
  line("NCCL", info.has_cuda ? "on: " + info.nccl : "off: without CUDA");
  line("Gloo", "on: inside LibTorch");
  text += info.has_cuda
              ? "\nA build without CUDA: cmake -DSLIPWAY_CUDA=OFF.\n"
              : "\nTo get CUDA: cmake -DSLIPWAY_CUDA=ON, which stops at what is missing and says what to do.\n";
  return text;
}

}  // namespace slipway
