// Collectives over one group of ranks. No torch here: Gloo stands behind group_gloo.cpp.
//
// Every rank of the group makes the same calls in the same order. Calls are serialised by a lock per group, so they may
// come from any thread; the order is the caller's duty. Tensors are contiguous host memory and must stay untouched
// until the returned work was waited for. A failure is a CommError that names group, operation, number and bytes.
#pragma once

#include <slipway/services.h>

#include <memory>
#include <string>
#include <vector>

namespace slipway {

class Work {
 public:
  virtual ~Work() = default;
  // Blocks until the collective is complete on this rank.
  virtual void wait() = 0;
};
using WorkPtr = std::unique_ptr<Work>;

// Work that is over already.
WorkPtr make_done_work();

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
  virtual WorkPtr all_gather(const slw_tensor& in, const slw_tensor& out) = 0;
  virtual WorkPtr reduce_scatter(const slw_tensor& in, const slw_tensor& out, int op) = 0;
  // Rows of dimension 0 sent to and received from each rank; NULL: equal parts.
  virtual WorkPtr all_to_all(const slw_tensor& in, const int64_t* in_rows, const slw_tensor& out,
                             const int64_t* out_rows) = 0;
  virtual WorkPtr broadcast(const slw_tensor& inout, int root) = 0;
  virtual WorkPtr send(const slw_tensor& tensor, int peer) = 0;
  virtual WorkPtr recv(const slw_tensor& tensor, int peer) = 0;
  virtual void barrier() = 0;

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
