// An optimizer instance. One driver thread.
#pragma once

#include <slipway/optimizer.h>

#include <string>
#include <vector>

#include "core/params/param.h"
#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"

namespace slipway {

struct StateSlot {
  std::string name;
  slw_dtype dtype;
  int32_t extent = SLW_STATE_LIKE_SHARD;
  double fill = 0.0;
};
struct OptimizerNeeds {  // for one parameter
  uint32_t layouts = 0;  // SLW_LAYOUT_*
  double cost = 0.0;
  std::vector<StateSlot> slots;
};

class HostOptimizer {
 public:
  HostOptimizer(const Component& component, const Host& host, const std::string& config_json, const slw_run_info& run);
  ~HostOptimizer();
  HostOptimizer(const HostOptimizer&) = delete;
  HostOptimizer& operator=(const HostOptimizer&) = delete;

  const std::string& name() const { return name_; }
  bool claims(const slw_param_decl& decl) const;
  OptimizerNeeds declare(const slw_param_decl& decl) const;
  void step(const std::vector<const slw_shard*>& shards, double grad_scale);

 private:
  const slw_optimizer_vtable* table_;
  CallSite site_;
  std::string name_;
  slw_optimizer* optimizer_ = nullptr;
};

}  // namespace slipway
