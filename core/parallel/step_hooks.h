// What a model may call during a forward or backward (slw_step_hooks), turned into calls on the data-parallel backend.
// A tie is ready when all its declarations are; what was never reported is ready when backward returned. Hooks may come
// from any thread; begin and end from the rank's own.
#pragma once

#include <slipway/model.h>

#include <atomic>
#include <memory>
#include <vector>

#include "core/parallel/param_store.h"
#include "core/params/table.h"
#include "core/plugin_host/host_dp.h"

namespace slipway {

class StepHooks {
 public:
  StepHooks(const ParamTable& table, const ParamStore& store, HostDp& dp);
  StepHooks(const StepHooks&) = delete;
  StepHooks& operator=(const StepHooks&) = delete;

  slw_step_hooks* get() { return &hooks_; }
  // `chunk` is about to run microbatch `microbatch`.
  void begin(int32_t chunk, int32_t microbatch, bool is_last_microbatch);
  // After backward: reports what the model did not. Throws what the backend says.
  void finish_backward();

 private:
  friend struct StepHookCallbacks;
  slw_status report(int32_t param, slw_error* error);

  const ParamTable& table_;
  const ParamStore& store_;
  HostDp& dp_;
  int32_t chunk_ = 0, microbatch_ = 0;
  bool is_last_ = false;
  std::vector<std::atomic<int32_t>> missing_;  // by parameter: declarations of this chunk not yet reported
  slw_step_hooks hooks_;
};

}  // namespace slipway
