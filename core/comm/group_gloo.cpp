// The only file that sees gloo. The wheel has gloo inside libtorch but not its headers: those are Debian's libgloo-dev.
#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "core/base/error.h"
#include "core/comm/rendezvous.h"

namespace slipway {
namespace {

using GlooPtr = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using C10dWorkPtr = c10::intrusive_ptr<c10d::Work>;

// The first line only: c10 appends a backtrace.
std::string first_line(const std::exception& error) {
  const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
  const std::string text = c10_error != nullptr ? c10_error->what_without_backtrace() : error.what();
  return text.substr(0, text.find('\n'));
}

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

at::Tensor wrap(const slw_tensor& tensor) {
  contiguous_bytes(tensor);
  const at::IntArrayRef shape(tensor.shape, static_cast<size_t>(tensor.ndim));
  return at::from_blob(tensor_address(tensor), shape, at::TensorOptions(scalar_type(tensor.dtype)));
}

c10d::ReduceOp reduce_op(int op) {
  switch (op) {
    case SLW_SUM:
      return c10d::ReduceOp::SUM;
    case SLW_MAX:
      return c10d::ReduceOp::MAX;
    case SLW_MIN:
      return c10d::ReduceOp::MIN;
    default:
      throw CommError("Gloo sums, and takes max and min, but does not average: use SLW_SUM");
  }
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
  GlooGroup(std::string name, const RankList& ranks, int rank, GlooPtr gloo)
      : Group(std::move(name), ranks, rank), gloo_(std::move(gloo)) {}

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
    std::vector<int64_t> in_sizes = rows(in_rows), out_sizes = rows(out_rows);
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
  // One count a rank; empty: equal parts.
  std::vector<int64_t> rows(const int64_t* counts) const {
    return counts == nullptr ? std::vector<int64_t>{} : std::vector<int64_t>(counts, counts + size());
  }

  template <class Enqueue>
  WorkPtr launch(const char* op, const slw_tensor& tensor, Enqueue&& enqueue) {
    const std::lock_guard lock(mutex_);
    const std::string what = std::string(op) + " #" + std::to_string(sequence_++) + " of group " + name() + " (" +
                             std::to_string(size()) + " ranks, " + std::to_string(contiguous_bytes(tensor)) + " bytes)";
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

// c10d keeps one flight recorder a process, which two ranks in one process corrupt (LibTorch 2.11). It reads its size
// from the environment at its first use, so this has to come before any group.
void switch_off_flight_recorder() {
  static std::once_flag once;
  std::call_once(once, [] { setenv("TORCH_FR_BUFFER_SIZE", "0", 1); });
}

class GlooRendezvous : public Rendezvous {
 public:
  GlooRendezvous(const RankEnvironment& environment, std::chrono::milliseconds timeout)
      : environment_(environment), timeout_(timeout) {
    switch_off_flight_recorder();
    c10d::TCPStoreOptions options;
    options.port = static_cast<uint16_t>(environment.master_port);
    options.isServer = environment.rank == 0;
    options.numWorkers = static_cast<size_t>(environment.world_size);
    options.timeout = timeout;
    try {
      store_ = c10::make_intrusive<c10d::TCPStore>(environment.master_addr, options);
    } catch (const std::exception& error) {
      throw CommError("rank " + std::to_string(environment.rank) + " did not meet the other " +
                      std::to_string(environment.world_size - 1) + " ranks at " + environment.master_addr + ":" +
                      std::to_string(environment.master_port) + ": " + first_line(error));
    }
  }

  std::unique_ptr<Group> make_group(const std::string& name, const RankList& ranks) override {
    const auto place = std::find(ranks.begin(), ranks.end(), environment_.rank);
    SLW_CHECK(place != ranks.end());
    const int rank = static_cast<int>(place - ranks.begin());
    auto options = c10d::ProcessGroupGloo::Options::create(timeout_);
    options->devices.push_back(device());
    const auto store = c10::make_intrusive<c10d::PrefixStore>(name + "/" + std::to_string(ranks.front()), store_);
    try {
      auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, rank, static_cast<int>(ranks.size()), options);
      return std::make_unique<GlooGroup>(name, ranks, rank, std::move(gloo));
    } catch (const std::exception& error) {
      throw CommError("group " + name + " of " + std::to_string(ranks.size()) +
                      " ranks did not connect: " + first_line(error));
    }
  }

 private:
  // GLOO_SOCKET_IFNAME, else loopback when the master is there, else this host's own address.
  std::shared_ptr<::gloo::transport::Device> device() const {
    if (const auto interface = environment_variable("GLOO_SOCKET_IFNAME")) {
      return c10d::ProcessGroupGloo::createDeviceForInterface(*interface);
    }
    const bool loopback = environment_.master_addr == "localhost" || environment_.master_addr.starts_with("127.");
    return loopback ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                    : c10d::ProcessGroupGloo::createDefaultDevice();
  }

  RankEnvironment environment_;
  std::chrono::milliseconds timeout_;
  c10::intrusive_ptr<c10d::TCPStore> store_;
};

}  // namespace

std::unique_ptr<Rendezvous> make_gloo_rendezvous(const RankEnvironment& environment,
                                                 std::chrono::milliseconds timeout) {
  return std::make_unique<GlooRendezvous>(environment, timeout);
}

}  // namespace slipway
