// An optimizer as a host drives it: through its table, over memory that the test owns. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <slipway/sdk.hpp>
#include <string>
#include <vector>

#include "tests/plugin/loaded_plugin.h"
#include "tests/plugin/toy_host.h"

struct OptimizerSlot {
  std::string name;
  slw_dtype dtype;
  int32_t extent;
  double fill;
  bool operator==(const OptimizerSlot& other) const {
    return name == other.name && slw::same_dtype(dtype, other.dtype) && extent == other.extent && fill == other.fill;
  }
};

class OptimizerInstance {
 public:
  // `options`: JSON text of what differs from the defaults. num_threads 0: a host without slw.threads/1.
  explicit OptimizerInstance(const slw_component& component, const std::string& options = "{}", int num_threads = 0);
  ~OptimizerInstance();
  OptimizerInstance(const OptimizerInstance&) = delete;
  OptimizerInstance& operator=(const OptimizerInstance&) = delete;

  struct Declared {
    uint32_t layouts = 0;
    std::vector<OptimizerSlot> slots;
  };
  Declared declare(const slw_param_decl& decl);
  // Throws slw::Error with what the optimizer reports.
  void step(const std::vector<const slw_shard*>& shards, double grad_scale = 1.0);
  slw_status step(const slw_opt_step_args& args, slw_error* error) { return table().step(optimizer_, &args, error); }
  const slw_optimizer_vtable& table() const { return table_; }

 private:
  const slw_optimizer_vtable& table_;
  ToyHost host_;
  slw_optimizer* optimizer_ = nullptr;
};

// A run description with nothing special in it.
slw_run_info plain_run();
// A matrix of that many rows and columns. Texts and shape live as long as the process.
slw_param_decl matrix_declaration();
slw_opt_step_args step_args(const std::vector<const slw_shard*>& shards, double grad_scale = 1.0);

// An fp32 tensor with shape and strides of its own, over memory of the caller.
struct FloatView {
  std::vector<int64_t> shape, strides;
  slw_tensor tensor;
};

// A shard over memory of the caller.
class TestShard {
 public:
  // Tensors of one shape; `states` in declare order.
  TestShard(FloatView param, FloatView grad, std::vector<FloatView> states);
  TestShard(const TestShard&) = delete;
  TestShard& operator=(const TestShard&) = delete;

  slw_shard& operator*() { return shard_; }
  slw_shard* operator->() { return &shard_; }
  const slw_shard* get() const { return &shard_; }

 private:
  std::deque<FloatView> views_;
  std::vector<slw_tensor*> states_;
  slw_param_decl decl_;
  slw_shard shard_;
};

// `n` numbers at `data`.
FloatView flat_view(float* data, int64_t n);
FloatView strided_view(float* data, std::vector<int64_t> shape, std::vector<int64_t> strides);
