#include "plugins/adam/work_list.h"

namespace adam {

namespace {

constexpr const char* kRoleNames[] = {"parameter", "gradient", "exp_avg", "exp_avg_sq"};

void check_tensor(const slw_shard& shard, const slw_tensor& tensor, const char* role) {
  const slw_tensor& param = shard.master;
  const bool same_shape = tensor.ndim == param.ndim && std::equal(param.shape, param.shape + param.ndim, tensor.shape);
  const bool fits = same_shape && slw::same_dtype(tensor.dtype, slw::f32) && tensor.device.type == SLW_DEVICE_CPU;
  if (fits && (slw::numel(tensor) == 0 || tensor.data != nullptr)) return;
  throw slw::Error(SLW_INVALID_ARGUMENT,
                   slw::cat("adam: ", role, " of '", shard.decl->name, "' is ", slw::describe(tensor), " at ",
                            tensor.data, " on device type ", tensor.device.type,
                            "; wanted f32 memory of the CPU like the ", "parameter's ", slw::describe(param)));
}

void check_shard(const slw_shard& shard) {
  if (shard.decl == nullptr || shard.decl->name == nullptr) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("adam: shard of parameter ", shard.param_index, " has no name"));
  }
  if (shard.num_states != 2) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("adam: '", shard.decl->name, "' comes with ", shard.num_states,
                                                    " states, wanted exp_avg and exp_avg_sq"));
  }
  if (shard.step < 1) {
    throw slw::Error(SLW_INVALID_ARGUMENT,
                     slw::cat("adam: '", shard.decl->name, "' is at step ", shard.step, ", the first step is 1"));
  }
}

// The first dim from which on this tensor has no gaps.
std::int32_t contiguous_from(const slw_tensor& t) {
  std::int64_t expected = 1;
  for (std::int32_t d = t.ndim - 1; d >= 0; --d) {
    if (t.shape[d] != 1 && t.strides[d] != expected) return d + 1;
    expected *= t.shape[d];
  }
  return 0;
}

}  // namespace

ShardWork::ShardWork(const slw_shard& shard, const Coefficients& coefficients) : coefficients_(coefficients) {
  check_shard(shard);
  const slw_tensor given[kNumRoles] = {shard.master, shard.grad, *shard.states[0], *shard.states[1]};
  for (int role = 0; role < kNumRoles; ++role) {
    check_tensor(shard, given[role], kRoleNames[role]);
    tensors_[role] = given[role];
    outer_dims_ = std::max(outer_dims_, contiguous_from(given[role]));
  }
  for (std::int32_t d = 0; d < shard.master.ndim; ++d) (d < outer_dims_ ? rows_ : run_) *= shard.master.shape[d];
}

float* ShardWork::row(Role role, std::int64_t index) const {
  const slw_tensor& t = tensors_[role];
  float* at = static_cast<float*>(slw::raw(t));
  for (std::int32_t d = outer_dims_ - 1; d >= 0; --d) {
    at += index % t.shape[d] * t.strides[d];
    index /= t.shape[d];
  }
  return at;
}

void ShardWork::apply(std::int64_t begin, std::int64_t end) const {
  while (begin < end) {
    const std::int64_t index = begin / run_, from = begin % run_;
    const std::int64_t n = std::min(end - begin, run_ - from);
    adam::apply(coefficients_, {row(kParam, index) + from, row(kGrad, index) + from, row(kExpAvg, index) + from,
                                row(kExpAvgSq, index) + from, n});
    begin += n;
  }
}

void WorkList::add(const ShardWork& work) {
  if (work.size() == 0) return;
  ends_.push_back(size() + work.size());
  shards_.push_back(work);
}

void WorkList::apply(std::int64_t begin, std::int64_t end) const {
  auto shard = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin());
  for (; begin < end; ++shard) {
    const std::int64_t start = ends_[shard] - shards_[shard].size();
    const std::int64_t stop = std::min(end, ends_[shard]);
    shards_[shard].apply(begin - start, stop - start);
    begin = stop;
  }
}

}  // namespace adam
