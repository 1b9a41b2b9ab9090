// Collectives of slw.comm/1 over at::Tensor. Tensors are contiguous; one that is being sent or filled is kept alive by
// the work that moves it. A failure is an slw::Error (SLW_COMM): the run is over.
#pragma once

#include <memory>
#include <slipway/sdk/host.hpp>
#include <slipway/torch/tensor.hpp>
#include <utility>
#include <vector>

SLW_SDK_BEGIN

struct WorkRelease {
  const slw_comm* comm = nullptr;
  void operator()(slw_work* work) const { comm->work_release(work); }
};

// A collective under way. wait() before its tensors are used; destroyed without, it is waited for by nobody and its
// tensors must not be touched again.
class TorchWork {
 public:
  TorchWork() = default;
  TorchWork(const slw_comm* comm, slw_work* work, std::vector<at::Tensor> tensors)
      : work_(work, WorkRelease{comm}), tensors_(std::move(tensors)) {}

  // Makes the current stream wait for it; on the CPU, blocks.
  void wait(const slw_stream& stream = {{SLW_DEVICE_CPU, 0}, nullptr}) {
    if (!work_) return;
    const slw_comm* comm = work_.get_deleter().comm;
    call([&](slw_error* e) { return comm->work_wait(work_.get(), &stream, e); });
    work_.reset();
    tensors_.clear();
  }

 private:
  std::unique_ptr<slw_work, WorkRelease> work_;
  std::vector<at::Tensor> tensors_;
};

// One of the run's groups; a value that borrows the instance's host. Enqueueing is [any], in one order on all ranks.
class TorchGroup {
 public:
  TorchGroup() = default;
  // Throws SLW_UNSUPPORTED when the host has no such group. Not offline: the comm service is absent there.
  TorchGroup(const Host& host, const char* name) : comm_(host.comm()) {
    if (comm_ == nullptr) throw Error(SLW_PRECONDITION, "this host has no service " SLW_SERVICE_COMM);
    group_ = comm_->group(host.get(), name);
    if (group_ == nullptr) throw Error(SLW_UNSUPPORTED, cat("this host has no group '", name, "'"));
  }

  int size() const { return group_ == nullptr ? 1 : comm_->size(group_); }
  int rank() const { return group_ == nullptr ? 0 : comm_->rank(group_); }

  TorchWork all_reduce(const at::Tensor& inout, int32_t op = SLW_SUM) const {
    return start({inout}, [&](const std::vector<Flat>& t, slw_work** work, slw_error* e) {
      return comm_->all_reduce(group_, t[0].view->get(), op, &kStream, work, e);
    });
  }
  // out holds the ranks' `in` one after the other.
  TorchWork all_gather(const at::Tensor& in, const at::Tensor& out) const {
    return start({in, out}, [&](const std::vector<Flat>& t, slw_work** work, slw_error* e) {
      return comm_->all_gather(group_, t[0].view->get(), t[1].view->get(), &kStream, work, e);
    });
  }
  // out: this rank's equal part of the summed `in`.
  TorchWork reduce_scatter(const at::Tensor& in, const at::Tensor& out, int32_t op = SLW_SUM) const {
    return start({in, out}, [&](const std::vector<Flat>& t, slw_work** work, slw_error* e) {
      return comm_->reduce_scatter(group_, t[0].view->get(), t[1].view->get(), op, &kStream, work, e);
    });
  }

 private:
  static constexpr slw_stream kStream{{SLW_DEVICE_CPU, 0}, nullptr};

  struct Flat {
    explicit Flat(const at::Tensor& t)
        : view(std::make_unique<View>(t.data_ptr(), border_dtype(t.scalar_type()), std::vector<int64_t>{t.numel()})) {
      if (!t.is_contiguous()) throw Error(SLW_INTERNAL, "a collective wants contiguous tensors");
    }
    std::unique_ptr<View> view;
  };

  template <class Enqueue>
  TorchWork start(std::vector<at::Tensor> tensors, Enqueue&& enqueue) const {
    std::vector<Flat> flat;
    for (const at::Tensor& t : tensors) flat.emplace_back(t);
    slw_work* work = nullptr;
    call([&](slw_error* e) { return enqueue(flat, &work, e); });
    return TorchWork(comm_, work, std::move(tensors));
  }

  const slw_comm* comm_ = nullptr;
  const slw_group* group_ = nullptr;
};

SLW_SDK_END
