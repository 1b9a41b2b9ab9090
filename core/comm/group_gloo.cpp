// The only file that sees gloo. The wheel has gloo inside libtorch but not its headers: those are Debian's libgloo-dev.
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <mutex>

#include "core/base/error.h"
#include "core/comm/c10d_tools.h"
#include "core/comm/rendezvous.h"

namespace slipway {
namespace {

using GlooPtr = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using C10dWorkPtr = c10::intrusive_ptr<c10d::Work>;

at::Tensor wrap(const slw_tensor& tensor) { return wrap_tensor(tensor, SLW_DEVICE_CPU); }

c10d::ReduceOp reduce_op(int op) {
  if (op == SLW_AVG) throw CommError("Gloo sums, and takes max and min, but does not average: use SLW_SUM");
  return c10d_reduce_op(op);
}

class GlooWork : public Work {
 public:
  GlooWork(C10dWorkPtr work, std::string what) : work_(std::move(work)), what_(std::move(what)) {}
  void wait() override {
    try {
      work_->wait();
    } catch (const std::exception& error) {
      throw CommError(what_ + " failed: " + first_line(error));
    }
  }

 private:
  C10dWorkPtr work_;
  std::string what_;
};

class GlooGroup : public Group {
 public:
  GlooGroup(const GroupRequest& request, GlooPtr gloo)
      : Group(request.name, request.ranks, request.place()), gloo_(std::move(gloo)) {}

  WorkPtr all_reduce(const slw_tensor& inout, int op) override {
    c10d::AllreduceOptions options;
    options.reduceOp = reduce_op(op);
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch("all_reduce", inout, [&] { return gloo_->allreduce(tensors, options); });
  }
  WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) override {
    std::vector<at::Tensor> inputs{wrap(in).reshape({-1})};
    std::vector<std::vector<at::Tensor>> outputs{wrap(out).view({size(), -1}).unbind(0)};
    return launch("all_gather", in, [&] { return gloo_->allgather(outputs, inputs); });
  }
  WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) override {
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduce_op(op);
    at::Tensor input = wrap(in).reshape({-1}), output = wrap(out).reshape({-1});
    return launch("reduce_scatter", in, [&] { return gloo_->_reduce_scatter_base(output, input, options); });
  }
  WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                     const int64_t* out_rows) override {
    at::Tensor input = wrap(in), output = wrap(out);
    std::vector<int64_t> in_sizes = row_counts(in_rows, size()), out_sizes = row_counts(out_rows, size());
    return launch("all_to_all", in, [&] { return gloo_->alltoall_base(output, input, out_sizes, in_sizes); });
  }
  WorkPtr broadcast(const slw_tensor& inout, int root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch("broadcast", inout, [&] { return gloo_->broadcast(tensors, options); });
  }
  WorkPtr send(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch("send", tensor, [&] { return gloo_->send(tensors, peer, 0); });
  }
  WorkPtr recv(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch("recv", tensor, [&] { return gloo_->recv(tensors, peer, 0); });
  }
  void barrier() override {
    int64_t shape = 0, stride = 1;
    const slw_tensor nothing{nullptr, {SLW_DEVICE_CPU, 0}, 1, {SLW_CODE_UINT, 8, 1}, &shape, &stride, 0};
    launch("barrier", nothing, [&] { return gloo_->barrier(); })->wait();
  }

 private:
  template <class Enqueue>
  WorkPtr launch(const char* op, const slw_tensor& tensor, Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    const std::string what = describe_call(*this, op, sequence_++, contiguous_bytes(tensor));
    try {
      return std::make_unique<GlooWork>(enqueue(), what);
    } catch (const std::exception& error) {
      throw CommError(what + " failed: " + first_line(error));
    }
  }

  GlooPtr gloo_;
  std::mutex mutex_;
  uint64_t sequence_ = 0;
};

// GLOO_SOCKET_IFNAME, else loopback when the master is there, else this host's own address.
std::shared_ptr<::gloo::transport::Device> gloo_device(const RankEnvironment& environment) {
  if (const auto interface = environment_variable("GLOO_SOCKET_IFNAME")) {
    return c10d::ProcessGroupGloo::createDeviceForInterface(*interface);
  }
  const bool loopback = environment.master_addr == "localhost" || environment.master_addr.starts_with("127.");
  return loopback ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                  : c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

std::unique_ptr<Group> make_gloo_group(const RankStore& store, const RankEnvironment& environment,
                                       const GroupRequest& request) {
  auto options = c10d::ProcessGroupGloo::Options::create(request.timeout);
  options->devices.push_back(gloo_device(environment));
  try {
    auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store_of_group(store, "gloo", request), request.place(),
                                                            static_cast<int>(request.ranks.size()), options);
    return std::make_unique<GlooGroup>(request, std::move(gloo));
  } catch (const std::exception& error) {
    throw CommError("group " + request.name + " of " + std::to_string(request.ranks.size()) +
                    " ranks did not connect: " + first_line(error));
  }
}

}  // namespace slipway
