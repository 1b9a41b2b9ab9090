// Collectives over one group of ranks. No torch here: Gloo stands behind group_gloo.cpp, NCCL behind group_nccl.cpp.
//
// Every rank of the group makes the same calls in the same order. Calls are serialised by a lock per group, so they may
// come from any thread; the order is the caller's duty. Tensors are contiguous, in host memory (Gloo, groups of one) or
// on the group's GPU (NCCL), and must stay untouched until the returned work was waited for. A failure is a CommError;
// those of a Communicator's groups name group, operation, number and bytes. After one, no call of the group succeeds.
//
// On a GPU everything is in stream order: a call begins after what the caller's stream holds (order_after says which
// stream), and Work::wait_on makes a stream wait without blocking the CPU. A collective that fails later than its
// wait_on is noticed by the next call or wait() of the group: numbers may be trusted once wait() or barrier() returned.
#pragma once

#include <slipway/services.h>

#include <memory>
#include <string>
#include <vector>

namespace slipway {

class Work {
 public:
  virtual ~Work() = default;
  // Blocks the CPU until the collective is complete on this rank.
  virtual void wait() = 0;
  // True when it is surely over, so that wait() would not block; a transport that cannot tell says false.
  virtual bool is_done() { return false; }
  // Host memory: as wait(). Device memory: work put on `stream` (NULL: this thread's current one) from now on begins
  // after the collective; the CPU goes on.
  virtual void wait_on(const slw_stream* stream) {
    (void)stream;
    wait();
  }
};
using WorkPtr = std::unique_ptr<Work>;

// Work that is over already.
WorkPtr make_done_work();

// While it lives, calls of this thread follow a stream's work. Ends on the thread that made it.
class StreamScope {
 public:
  virtual ~StreamScope() = default;
};

class Group {
 public:
  Group(std::string name, std::vector<int> ranks, int rank)
      : name_(std::move(name)), ranks_(std::move(ranks)), rank_(rank) {}
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  const std::string& name() const { return name_; }
  int rank() const { return rank_; }  // in the group
  int size() const { return static_cast<int>(ranks_.size()); }
  const std::vector<int>& ranks() const { return ranks_; }  // global ranks

  // [collective: this group], all of them. `op` is SLW_SUM, SLW_AVG, SLW_MAX or SLW_MIN.
  virtual WorkPtr all_reduce(const slw_tensor& inout, int op) = 0;
  // Also in place: where `in` is this rank's part of `out`, or `out` of `in`, whose other parts then hold nothing of
  // use.
  virtual WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) = 0;
  virtual WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) = 0;
  // Rows of dimension 0 sent to and received from each rank; NULL: equal parts.
  virtual WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                             const int64_t* out_rows) = 0;
  virtual WorkPtr broadcast(const slw_tensor& inout, int root) = 0;
  virtual WorkPtr send(const slw_tensor& tensor, int peer) = 0;
  virtual WorkPtr recv(const slw_tensor& tensor, int peer) = 0;
  virtual void barrier() = 0;

  // Makes `stream` (NULL: leave it) the current one of this thread; nullptr where there are no streams.
  virtual std::unique_ptr<StreamScope> order_after(const slw_stream* stream) {
    (void)stream;
    return nullptr;
  }
  // Between the two, calls of this thread are gathered and start as one; their own works need no wait. Gloo starts each
  // at once instead. REQUIRES: begin and end on one thread, no other call of the group in between.
  virtual void coalesce_begin() {}
  virtual WorkPtr coalesce_end();
  // Ends this rank's part of every collective that is under way, with an error; for failures. Gloo has nothing to do:
  // its connections close with the group. [any]
  virtual void abort() noexcept {}

 private:
  std::string name_;
  std::vector<int> ranks_;
  int rank_;
};

// A group of one rank: every collective is a copy at most.
std::unique_ptr<Group> make_local_group(std::string name, int global_rank);

// Bytes of a tensor. REQUIRES: contiguous; throws CommError otherwise.
int64_t contiguous_bytes(const slw_tensor& tensor);
void* tensor_address(const slw_tensor& tensor);

}  // namespace slipway
