// What group_gloo.cpp and group_nccl.cpp share: our tensors and errors in c10d's words. Includes torch.
#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <exception>
#include <string>

#include "core/base/error.h"
#include "core/comm/group.h"
#include "core/comm/rendezvous.h"

namespace slipway {

// The key-value store through which ranks meet.
struct RankStore {
  c10::intrusive_ptr<c10d::Store> c10d;
};

// The part of the store that belongs to one group of one backend.
c10::intrusive_ptr<c10d::Store> store_of_group(const RankStore& store, const std::string& backend,
                                               const GroupRequest& request);

// The first line only: c10 appends a backtrace.
std::string first_line(const std::exception& error);

// The memory of `tensor`, not owned. Throws CommError when it is not contiguous, has a dtype that collectives cannot
// move, or is not on a device of type `device` (SLW_DEVICE_CPU, SLW_DEVICE_CUDA).
at::Tensor wrap_tensor(const slw_tensor& tensor, int32_t device);

// SLW_SUM, SLW_MAX, SLW_MIN, SLW_AVG. Throws CommError for any other number.
c10d::ReduceOp c10d_reduce_op(int op);

// One row count a rank; empty: equal parts.
std::vector<int64_t> row_counts(const int64_t* counts, int ranks);

// Runs a call into c10d; what it throws becomes a CommError with its first line.
template <class Call>
auto told(Call&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    throw CommError(first_line(error));
  }
}

}  // namespace slipway
