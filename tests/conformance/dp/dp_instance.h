// A data-parallel backend as a host drives it: its plan, buffers as planned, and the calls of a step.
#pragma once

#include <deque>
#include <functional>
#include <slipway/sdk.hpp>
#include <string>
#include <vector>

#include "tests/conformance/dp/fake_comm.h"
#include "tests/plugin/loaded_plugin.h"

// A parameter table, in declare order.
class DpTable {
 public:
  struct Row {
    std::string name;
    int64_t numel;
    std::string group = "dp_cp";
    std::string tie = {};
    slw_dtype dtype{0, 0, 0};
    int32_t chunk = 0;
  };
  explicit DpTable(std::vector<Row> rows);
  DpTable(const DpTable&) = delete;
  DpTable& operator=(const DpTable&) = delete;

  const std::vector<Row>& rows() const { return rows_; }
  std::vector<const slw_dp_param*> params() const;
  slw_dp_param& param(std::size_t i) { return params_[i]; }

 private:
  std::vector<Row> rows_;
  std::deque<slw_param_decl> decls_;
  std::deque<slw_dp_param> params_;
};

struct DpRecord {
  struct Buffer {
    slw_buffer_plan plan;
    std::string group;
  };
  struct Bucket {
    int32_t buffer;
    int64_t begin, end;
  };
  struct Place {
    int32_t param, buffer;
    int64_t offset;
  };
  struct Shard {
    int32_t param, owner;
    int64_t begin, end;
  };
  std::vector<Buffer> buffers;
  std::vector<Bucket> buckets;
  std::vector<Place> places;
  std::vector<Shard> shards;

  std::string text() const;
  const Place& place_of(int32_t param) const;
  // What `rank` of the parameter's group updates of its `numel` elements: all where there are no shards.
  std::vector<Shard> owned(int32_t param, int32_t rank, int64_t numel) const;
};

// The sizes and the rank of one rank.
slw_run_info dp_run(int32_t dp_size, int32_t dp_rank, int32_t edp_size = 1);

class DpInstance {
 public:
  DpInstance(const slw_component& component, const slw_host* host, const slw_run_info& run,
             const std::string& options = "{}");
  ~DpInstance();
  DpInstance(const DpInstance&) = delete;
  DpInstance& operator=(const DpInstance&) = delete;

  // All throw slw::Error with what the backend reports.
  const DpRecord& plan(const DpTable& table);
  // Allocates the planned buffers, with zeros.
  void attach();
  void attach(const std::vector<const slw_buffer*>& buffers);
  void step_begin();
  void ready(int32_t param, bool is_last_microbatch = true, void* stream = nullptr);
  void finish();
  bool gathers() const;
  void gather_start();
  void gather_wait(int32_t param);

  // The buffers of attach(). REQUIRES: their gradients are fp32.
  std::vector<const slw_buffer*> buffers() const;
  float* grad(int32_t param);
  float* param(int32_t param);
  const std::vector<std::vector<float>>& grad_memory() const { return grads_; }
  void zero_grads();

 private:
  const slw_dp_vtable& table_;
  slw_dp* dp_ = nullptr;
  DpRecord record_;
  std::vector<std::vector<float>> grads_, params_;
  std::deque<int64_t> shapes_;
  std::deque<slw_buffer> buffers_;
};

// What `component` with `options` plans for `rows` on the rank of `run`.
DpRecord plan_of(const slw_component& component, const std::vector<DpTable::Row>& rows, const std::string& options,
                 const slw_run_info& run = dp_run(1, 0));

// The text of the slw::Error that `call` throws; empty where it throws none.
std::string error_of(const std::function<void()>& call);
