// A data-parallel backend. plan() is offline and pure; the rest follows the thread tags of slipway/dp.h.
#pragma once

#include <slipway/dp.h>

#include <string>
#include <vector>

#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"

namespace slipway {

// What a backend decided. Ranges are in elements of the buffer, or of the local parameter for shards.
struct DpPlan {
  struct Buffer {
    uint32_t flags;
    slw_dtype param, grad;
    int64_t numel;
    std::string shard_group, replica_group;
    int32_t unit, chunk;
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

  // A text of all of it: equal plans have equal texts.
  std::string to_text() const;
};

class HostDp {
 public:
  HostDp(const Component& component, const Host& host, const std::string& config_json, const slw_run_info& run);
  ~HostDp();
  HostDp(const HostDp&) = delete;
  HostDp& operator=(const HostDp&) = delete;

  DpPlan plan(const std::vector<const slw_dp_param*>& params) const;
  void attach(const std::vector<const slw_buffer*>& buffers);
  void step_begin();
  // No exception: called from inside a plugin's backward.
  slw_status grad_ready(const slw_ready_args& args, slw_error* error) noexcept;
  void grad_reduce_finish();
  // After an update: begins to make parameters whole again. What it has begun ends in finish_gather or, parameter by
  // parameter, in wait_param.
  void start_gather();
  void finish_gather();
  // `param` is whole when it returns. No exception: called from inside a plugin's forward.
  slw_status wait_param(int32_t param, slw_error* error) noexcept;

 private:
  const slw_dp_vtable* table_;
  CallSite site_;
  slw_dp* dp_ = nullptr;
};

}  // namespace slipway
