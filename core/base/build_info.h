// What this build has, as CMake found it when it was configured. Constant; any thread.
#pragma once

#include <string>

namespace slipway {

struct BuildInfo {
  std::string version;        // "0.1.0"
  std::string build_type;     // "Release"
  std::string compiler;       // "GNU 12.2.0"
  std::string libtorch;       // "2.11.0+cu130"
  std::string libtorch_path;  // the folder with lib and include
  bool has_cuda;
  std::string cuda;  // "on: ..." with versions, or "off: ..." with the reason
  std::string nccl;  // version; empty without CUDA
};

BuildInfo build_info();

// The text of `slipway help build`.
std::string build_info_text(const BuildInfo& info);

}  // namespace slipway
