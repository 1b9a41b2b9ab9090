#include "core/comm/c10d_tools.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "core/base/error.h"

namespace slipway {
namespace {

at::ScalarType scalar_type(slw_dtype dtype) {
  if (dtype.lanes != 1) throw CommError("a collective got a dtype with lanes");
  switch (dtype.code * 256 + dtype.bits) {
    case SLW_CODE_FLOAT * 256 + 64:
      return at::kDouble;
    case SLW_CODE_FLOAT * 256 + 32:
      return at::kFloat;
    case SLW_CODE_FLOAT * 256 + 16:
      return at::kHalf;
    case SLW_CODE_BFLOAT * 256 + 16:
      return at::kBFloat16;
    case SLW_CODE_INT * 256 + 64:
      return at::kLong;
    case SLW_CODE_INT * 256 + 32:
      return at::kInt;
    case SLW_CODE_UINT * 256 + 8:
      return at::kByte;
    default:
      throw CommError("a collective got a dtype it cannot move: code " + std::to_string(dtype.code) + ", bits " +
                      std::to_string(dtype.bits));
  }
}

void require_device(const slw_tensor& tensor, int32_t device) {
  if (tensor.device.type == device) return;
  const bool host = device == SLW_DEVICE_CPU;
  throw CommError(host ? "this group moves host memory (Gloo) and got a tensor that is not; "
                         "parallel.distributed_backend nccl moves device memory"
                       : "this group moves device memory (NCCL) and got a tensor that is not; "
                         "parallel.distributed_backend gloo moves host memory");
}

}  // namespace

c10::intrusive_ptr<c10d::Store> store_of_group(const RankStore& store, const std::string& backend,
                                               const GroupRequest& request) {
  const std::string prefix = backend + "/" + request.name + "/" + std::to_string(request.ranks.front());
  return c10::make_intrusive<c10d::PrefixStore>(prefix, store.c10d);
}

std::string first_line(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

at::Tensor wrap_tensor(const slw_tensor& tensor, int32_t device) {
  require_device(tensor, device);
  contiguous_bytes(tensor);
  const at::IntArrayRef shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  at::TensorOptions options(scalar_type(tensor.dtype));
  // The CPU's index is 0 at the border and -1 in LibTorch.
  if (device == SLW_DEVICE_CUDA) {
    options = options.device(at::kCUDA, static_cast<at::DeviceIndex>(tensor.device.id));
    return at::for_blob(tensor_address(tensor), shape).options(options).target_device(options.device()).make_tensor();
  }
  return at::from_blob(tensor_address(tensor), shape, options);
}

c10d::ReduceOp c10d_reduce_op(int op) {
  switch (op) {
    case SLW_SUM:
      return c10d::ReduceOp::SUM;
    case SLW_AVG:
      return c10d::ReduceOp::AVG;
    case SLW_MAX:
      return c10d::ReduceOp::MAX;
    case SLW_MIN:
      return c10d::ReduceOp::MIN;
    default:
      throw CommError("a collective got the unknown operation " + std::to_string(op));
  }
}

std::vector<int64_t> row_counts(const int64_t* counts, int ranks) {
  return counts == nullptr ? std::vector<int64_t>{} : std::vector<int64_t>(counts, counts + ranks);
}

}  // namespace slipway
