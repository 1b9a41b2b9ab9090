#include "core/pretrain/check_device.h"

#include "core/base/error.h"
#include "core/comm/cuda_library.h"

namespace slipway {

void check_device(const Config& config) {
  const std::string backend = config.parallel.distributed_backend.value_or("");
  if (config.train.device == "cpu") {
    if (backend != "nccl") return;
    throw ConfigError(
        "parallel.distributed_backend is nccl, which moves GPU memory, and train.device is cpu; leave it out or set "
        "gloo");
  }
  const CudaLibrary& cuda = load_cuda_library();
  if (cuda.device_count() == 0) {
    throw ConfigError("train.device is cuda, and this process can use no GPU: " + cuda.device_problem() +
                      "; check that nvidia-smi lists one, or set train.device to cpu");
  }
  throw ConfigError(
      "train.device is cuda, and " + cuda.device_name(0) +
      " is there, but this version keeps parameters, batches and optimizer state in host memory: it trains on "
      "the CPU only; set train.device to cpu");
}

}  // namespace slipway
