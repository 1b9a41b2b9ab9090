#include "core/comm/traced_group.h"

#include <mutex>

namespace slipway {
namespace {

using WatchPtr = std::shared_ptr<const CommWatch>;

CommError error_of(const CollectiveTrace& trace, const TracedCall& call, const std::exception& reason) {
  return CommError(trace.describe(call) + " failed: " + reason.what());
}

// Waits for a call that is under way, in the sight of the trace.
template <class Wait>
void wait_for(const CommWatch& watch, const TracedCall& call, Wait&& wait) {
  watch.trace->await(call);
  try {
    wait();
  } catch (const std::exception& reason) {
    const CommError error = error_of(*watch.trace, call, reason);
    watch.trace->fail(call);
    if (watch.on_failure) watch.on_failure(error);
    throw CommError(error);
  }
  watch.trace->finish(call);
}

class TracedWork : public Work {
 public:
  TracedWork(WorkPtr inner, WatchPtr watch, const TracedCall& call)
      : inner_(std::move(inner)), watch_(std::move(watch)), call_(call) {}
  ~TracedWork() override { watch_->trace->finish(call_); }  // nobody waits for it any more

  void wait() override {
    wait_for(*watch_, call_, [&] { inner_->wait(); });
  }
  void wait_on(const slw_stream* stream) override {
    wait_for(*watch_, call_, [&] { inner_->wait_on(stream); });
  }
  bool is_done() override { return inner_->is_done(); }

 private:
  WorkPtr inner_;
  WatchPtr watch_;
  TracedCall call_;
};

class TracedGroup : public Group {
 public:
  TracedGroup(std::unique_ptr<Group> inner, const CommWatch& watch)
      : Group(inner->name(), inner->ranks(), inner->rank()),
        inner_(std::move(inner)),
        watch_(std::make_shared<CommWatch>(watch)),
        number_(watch_->trace->add_group(name(), ranks())) {}

  WorkPtr all_reduce(const slw_tensor& inout, int op) override {
    return launch(GroupOp::kAllReduce, inout, [&] { return inner_->all_reduce(inout, op); });
  }
  WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) override {
    return launch(GroupOp::kAllGather, in, [&] { return inner_->all_gather(in, out); });
  }
  WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) override {
    return launch(GroupOp::kReduceScatter, in, [&] { return inner_->reduce_scatter(in, out, op); });
  }
  WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                     const int64_t* out_rows) override {
    return launch(GroupOp::kAllToAll, in, [&] { return inner_->all_to_all(in, in_rows, out, out_rows); });
  }
  WorkPtr broadcast(const slw_tensor& inout, int root) override {
    return launch(GroupOp::kBroadcast, inout, [&] { return inner_->broadcast(inout, root); });
  }
  WorkPtr send(const slw_tensor& tensor, int peer) override {
    return start(GroupOp::kSend, contiguous_bytes(tensor), peer, [&] { return inner_->send(tensor, peer); });
  }
  WorkPtr recv(const slw_tensor& tensor, int peer) override {
    return start(GroupOp::kRecv, contiguous_bytes(tensor), peer, [&] { return inner_->recv(tensor, peer); });
  }
  void barrier() override {
    TracedCall call;
    {
      const std::lock_guard lock(mutex_);
      call = watch_->trace->start(number_, GroupOp::kBarrier, 0);
    }
    wait_for(*watch_, call, [&] { inner_->barrier(); });
  }

  std::unique_ptr<StreamScope> order_after(const slw_stream* stream) override { return inner_->order_after(stream); }
  void coalesce_begin() override { inner_->coalesce_begin(); }
  WorkPtr coalesce_end() override {
    return start(GroupOp::kCoalesced, 0, -1, [&] { return inner_->coalesce_end(); });
  }
  void abort() noexcept override { inner_->abort(); }

 private:
  template <class Call>
  WorkPtr launch(GroupOp op, const slw_tensor& tensor, Call&& call) {
    return start(op, contiguous_bytes(tensor), -1, call);
  }
  // A call that is refused before it is under way is an error like any other: the transport says what is wrong.
  template <class Call>
  WorkPtr start(GroupOp op, int64_t bytes, int peer, Call&& call) {
    const std::lock_guard lock(mutex_);
    const TracedCall traced = watch_->trace->start(number_, op, bytes, peer);
    try {
      return std::make_unique<TracedWork>(call(), watch_, traced);
    } catch (const std::exception& reason) {
      watch_->trace->fail(traced);
      throw error_of(*watch_->trace, traced, reason);
    }
  }

  std::unique_ptr<Group> inner_;
  WatchPtr watch_;
  size_t number_;
  std::mutex mutex_;
};

}  // namespace

std::unique_ptr<Group> make_traced_group(std::unique_ptr<Group> inner, const CommWatch& watch) {
  return std::make_unique<TracedGroup>(std::move(inner), watch);
}

}  // namespace slipway
