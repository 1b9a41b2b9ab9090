// The only file that sees gloo. The wheel has gloo inside libtorch but not its headers: those are Debian's libgloo-dev.
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include <algorithm>
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
  explicit GlooWork(C10dWorkPtr work) : work_(std::move(work)) {}
  void wait() override {
    told([&] { work_->wait(); });
  }
  bool is_done() override { return work_->isCompleted(); }

 private:
  C10dWorkPtr work_;
};

// Several calls as one.
class GlooWorks : public Work {
 public:
  explicit GlooWorks(std::vector<WorkPtr> works) : works_(std::move(works)) {}
  void wait() override {
    for (const WorkPtr& work : works_) work->wait();
  }
  bool is_done() override {
    return std::all_of(works_.begin(), works_.end(), [](const WorkPtr& work) { return work->is_done(); });
  }

 private:
  std::vector<WorkPtr> works_;
};

class GlooGroup : public Group {
 public:
  GlooGroup(const GroupRequest& request, GlooPtr gloo)
      : Group(request.name, request.ranks, request.place()), gloo_(std::move(gloo)) {}

  WorkPtr all_reduce(const slw_tensor& inout, int op) override {
    c10d::AllreduceOptions options;
    options.reduceOp = reduce_op(op);
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch([&] { return gloo_->allreduce(tensors, options); });
  }
  // In place by a broadcast from each rank: c10d's own gathers into a copy of the output first.
  WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) override {
    if (is_part_of(in, out)) return broadcast_parts(out);
    std::vector<at::Tensor> inputs{wrap(in).reshape({-1})};
    std::vector<std::vector<at::Tensor>> outputs{wrap(out).view({size(), -1}).unbind(0)};
    return launch([&] { return gloo_->allgather(outputs, inputs); });
  }
  // Gloo reduces all parts everywhere; in place that needs no copy of the input.
  WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) override {
    if (is_part_of(out, in)) return all_reduce(in, op);
    c10d::ReduceScatterOptions options;
    options.reduceOp = reduce_op(op);
    at::Tensor input = wrap(in).reshape({-1}), output = wrap(out).reshape({-1});
    return launch([&] { return gloo_->_reduce_scatter_base(output, input, options); });
  }
  WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                     const int64_t* out_rows) override {
    at::Tensor input = wrap(in), output = wrap(out);
    std::vector<int64_t> in_sizes = row_counts(in_rows, size()), out_sizes = row_counts(out_rows, size());
    return launch([&] { return gloo_->alltoall_base(output, input, out_sizes, in_sizes); });
  }
  WorkPtr broadcast(const slw_tensor& inout, int root) override {
    c10d::BroadcastOptions options;
    options.rootRank = root;
    std::vector<at::Tensor> tensors{wrap(inout)};
    return launch([&] { return gloo_->broadcast(tensors, options); });
  }
  WorkPtr send(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch([&] { return gloo_->send(tensors, peer, 0); });
  }
  WorkPtr recv(const slw_tensor& tensor, int peer) override {
    std::vector<at::Tensor> tensors{wrap(tensor)};
    return launch([&] { return gloo_->recv(tensors, peer, 0); });
  }
  void barrier() override {
    launch([&] { return gloo_->barrier(); })->wait();
  }

 private:
  // `part` is this rank's equal part of `whole`.
  bool is_part_of(const slw_tensor& part, const slw_tensor& whole) const {
    const int64_t bytes = contiguous_bytes(part);
    return bytes > 0 && static_cast<char*>(tensor_address(whole)) + rank() * bytes == tensor_address(part);
  }
  WorkPtr broadcast_parts(const slw_tensor& whole) {
    const std::vector<at::Tensor> parts = wrap(whole).view({size(), -1}).unbind(0);
    std::vector<WorkPtr> works;
    for (int root = 0; root < size(); ++root) {
      c10d::BroadcastOptions options;
      options.rootRank = root;
      std::vector<at::Tensor> tensors{parts[static_cast<size_t>(root)]};
      works.push_back(launch([&] { return gloo_->broadcast(tensors, options); }));
    }
    return std::make_unique<GlooWorks>(std::move(works));
  }

  template <class Enqueue>
  WorkPtr launch(Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    return told([&] { return std::make_unique<GlooWork>(enqueue()); });
  }

  GlooPtr gloo_;
  std::mutex mutex_;
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
