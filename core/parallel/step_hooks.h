// What a model may call during a forward or backward (slw_step_hooks), turned into calls on the data-parallel backend.
// A tie is ready when all its declarations are; what was never reported is ready when backward returned. Acquiring a
// parameter waits until it is whole after the last update; a model that says it acquires and then trains a parameter
// without having done so is refused, because its numbers would be stale. Hooks may come from any thread; begin and end
// from the rank's own.
#pragma once

#include <slipway/model.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel/param_store.h"
#include "core/params/table.h"
#include "core/plugin_host/host_dp.h"
#include "core/rng/stream_tracker.h"

namespace slipway {

class StepHooks {
 public:
  // `acquires`: the model acquires what it uses (SLW_MODEL_ACQUIRES).
  // `streams`: of rng=megatron; nullptr: models get no rng_reserve.
  StepHooks(const ParamTable& table, const ParamStore& store, HostDp& dp, bool acquires,
            StreamTracker* streams = nullptr);
  StepHooks(const StepHooks&) = delete;
  StepHooks& operator=(const StepHooks&) = delete;

  slw_step_hooks* get() { return &hooks_; }
  // `chunk` is about to run microbatch `microbatch`.
  void begin(int32_t chunk, int32_t microbatch, bool is_last_microbatch);
  // From here on, what this chunk and microbatch reserve of random streams: anew and noted down, or again what the
  // noted pass got, in the same order.
  enum class Reserving { kAnew, kNoted, kAgain };
  void begin_reserving(Reserving how);
  // After backward: reports what the model did not. Throws what the backend says.
  void finish_backward();

 private:
  friend struct StepHookCallbacks;
  slw_status report(int32_t param, slw_error* error);
  slw_status acquire(int32_t param, slw_error* error);
  StreamTracker::Stream reserve(const std::string& stream, uint64_t increments);

  const ParamTable& table_;
  const ParamStore& store_;
  HostDp& dp_;
  bool acquires_;
  int32_t chunk_ = 0, microbatch_ = 0;
  bool is_last_ = false;
  std::vector<std::atomic<int32_t>> missing_;    // by parameter: declarations of this chunk not yet reported
  std::vector<std::atomic<uint64_t>> acquired_;  // by parameter: the newest weights version that was acquired
  // rng=megatron: what passes that will be repeated have reserved, by chunk and microbatch.
  struct Reservation {
    std::string stream;
    uint64_t blocks;
    StreamTracker::Stream got;
  };
  using Reservations = std::vector<Reservation>;
  StreamTracker* streams_;
  Reserving reserving_ = Reserving::kAnew;
  std::map<std::pair<int32_t, int32_t>, Reservations> noted_;
  size_t next_noted_ = 0;
  slw_step_hooks hooks_;
};

}  // namespace slipway
