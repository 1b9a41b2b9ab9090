#include "core/comm/group_nccl.h"

#define USE_C10D_NCCL
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <mutex>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "core/base/error.h"

namespace slipway {
namespace {

using NcclPtr = c10::intrusive_ptr<c10d::ProcessGroupNCCL>;
using C10dWorkPtr = c10::intrusive_ptr<c10d::Work>;
using c10::cuda::CUDAStream;

at::Tensor wrap(const slw_tensor& tensor) { return wrap_tensor(tensor, SLW_DEVICE_CUDA); }

// The stream that the caller means: NULL leaves this thread's current one of the device.
CUDAStream stream_of(const slw_stream* stream, c10::DeviceIndex device) {
  if (stream == nullptr) return c10::cuda::getCurrentCUDAStream(device);
  return c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(stream->native), device);
}

// For ends of a group that may have failed already; whether it went well.
template <class Call>
bool try_to(Call&& call) noexcept {
  try {
    call();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

class CurrentStream : public StreamScope {
 public:
  explicit CurrentStream(CUDAStream stream) : guard_(stream) {}

 private:
  c10::cuda::CUDAStreamGuard guard_;
};

class NcclWork : public Work {
 public:
  NcclWork(C10dWorkPtr work, c10::DeviceIndex device) : work_(std::move(work)), device_(device) {}

  void wait() override {
    wait_on(nullptr);
    told([&] { c10::cuda::getCurrentCUDAStream(device_).synchronize(); });
    if (const auto error = work_->exception()) told([&] { std::rethrow_exception(error); });
  }
  void wait_on(const slw_stream* stream) override {
    told([&] {
      const CurrentStream current(stream_of(stream, device_));
      work_->wait();
    });
  }

 private:
  C10dWorkPtr work_;
  c10::DeviceIndex device_;
};

class NcclGroup : public Group {
 public:
  NcclGroup(const GroupRequest& request, NcclPtr nccl, int device)
      : Group(request.name, request.ranks, request.place()),
        nccl_(std::move(nccl)),
        device_(static_cast<c10::DeviceIndex>(device)) {}
  ~NcclGroup() override {
    try_to([&] { nccl_->shutdown(); });
  }

  WorkPtr all_reduce(const slw_tensor& inout, int op) override {
    c10d::AllreduceOptions options;
    options.reduceOp = c10d_reduce_op(op);
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch([&] { return nccl_->allreduce(tensors, options); });
  }
  WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) override {
    at::Tensor input = wrap(in).reshape({-1}), output = wrap(out).reshape({-1});
    return launch([&] { return nccl_->_allgather_base(output, input); });
  }
  WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) override {
    c10d::ReduceScatterOptions options;
    options.reduceOp = c10d_reduce_op(op);
    at::Tensor input = wrap(in).reshape({-1}), output = wrap(out).reshape({-1});
    return launch([&] { return nccl_->_reduce_scatter_base(output, input, options); });
  }
  WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                     const int64_t* out_rows) override {
    at::Tensor input = wrap(in), output = wrap(out);
    std::vector<int64_t> in_sizes = row_counts(in_rows, size()), out_sizes = row_counts(out_rows, size());
    return launch([&] { return nccl_->alltoall_base(output, input, out_sizes, in_sizes); });
  }
  WorkPtr broadcast(const slw_tensor& inout, int root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch([&] { return nccl_->broadcast(tensors, options); });
  }
  WorkPtr send(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch([&] { return nccl_->send(tensors, peer, 0); });
  }
  WorkPtr recv(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch([&] { return nccl_->recv(tensors, peer, 0); });
  }
  void barrier() override {
    c10d::BarrierOptions options;
    options.device_ids = {device_};
    launch([&] { return nccl_->barrier(options); })->wait();
  }

  std::unique_ptr<StreamScope> order_after(const slw_stream* stream) override {
    if (stream == nullptr) return nullptr;
    return std::make_unique<CurrentStream>(stream_of(stream, device_));
  }
  void coalesce_begin() override {
    const std::lock_guard lock(mutex_);
    const c10::cuda::CUDAGuard on_device(device_);
    nccl_->startCoalescing();
    is_coalescing_ = true;
  }
  WorkPtr coalesce_end() override {
    const std::lock_guard lock(mutex_);
    is_coalescing_ = false;
    return launched([&] { return nccl_->endCoalescing(); });
  }
  void abort() noexcept override {
    try_to([&] { nccl_->abort(); });
  }

 private:
  template <class Enqueue>
  WorkPtr launch(Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    return launched(enqueue);
  }
  template <class Enqueue>
  WorkPtr launched(Enqueue&& enqueue) {
    return told([&]() -> WorkPtr {
      const c10::cuda::CUDAGuard on_device(device_);
      C10dWorkPtr work = enqueue();
      if (is_coalescing_ || work == nullptr) return make_done_work();
      return std::make_unique<NcclWork>(std::move(work), device_);
    });
  }

  NcclPtr nccl_;
  c10::DeviceIndex device_;
  std::mutex mutex_;
  bool is_coalescing_ = false;
};

}  // namespace

std::unique_ptr<Group> connect_nccl_group(const RankStore& store, const GroupRequest& request, int device) {
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = request.timeout;
  options->group_name = request.name;
  try {
    const at::Device on(at::kCUDA, static_cast<c10::DeviceIndex>(device));
    auto nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(store_of_group(store, "nccl", request), request.place(),
                                                            static_cast<int>(request.ranks.size()), options);
    nccl->setBoundDeviceId(on);
    nccl->eagerConnectSingleDevice(on);
    return std::make_unique<NcclGroup>(request, std::move(nccl), device);
  } catch (const std::exception& error) {
    throw CommError("group " + request.name + " of " + std::to_string(request.ranks.size()) +
                    " ranks did not connect over NCCL on GPU " + std::to_string(device) + ": " + first_line(error));
  }
}

}  // namespace slipway
