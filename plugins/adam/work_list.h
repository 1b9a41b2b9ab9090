// The shards of one step as one line of elements, so that threads can cut it anywhere. Built and used within a step.
#pragma once

#include <slipway/sdk.hpp>
#include <vector>

#include "plugins/adam/adam_kernel.h"

namespace adam {

// One shard: `rows` runs of `run` contiguous elements in each of its tensors.
class ShardWork {
 public:
  // Throws slw::Error when the tensors are not what declare() asked for.
  ShardWork(const slw_shard& shard, const Coefficients& coefficients);

  std::int64_t size() const { return rows_ * run_; }
  // Updates elements [begin, end), counted row by row.
  void apply(std::int64_t begin, std::int64_t end) const;

 private:
  enum Role { kParam, kGrad, kExpAvg, kExpAvgSq, kNumRoles };
  float* row(Role role, std::int64_t index) const;

  Coefficients coefficients_;
  slw_tensor tensors_[kNumRoles];
  std::int32_t outer_dims_ = 0;
  std::int64_t rows_ = 1, run_ = 1;
};

class WorkList {
 public:
  void add(const ShardWork& work);
  std::int64_t size() const { return ends_.empty() ? 0 : ends_.back(); }
  // Updates elements [begin, end) of the line. Parts that do not overlap may run at once.
  void apply(std::int64_t begin, std::int64_t end) const;

 private:
  std::vector<ShardWork> shards_;
  std::vector<std::int64_t> ends_;  // of each shard on the line
};

}  // namespace adam
