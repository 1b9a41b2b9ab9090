#include "core/parallel/step_hooks.h"

#include "core/plugin_host/call.h"
#include "core/plugin_host/sink.h"

namespace slipway {

struct StepHookCallbacks {
  static StepHooks& self(slw_step_hooks* hooks) { return *static_cast<StepHooks*>(hooks->impl); }

  static slw_status grad_ready(slw_step_hooks* hooks, int32_t index, const slw_stream*, slw_error* error) {
    StepHooks& me = self(hooks);
    slw_status status = SLW_OK;
    const slw_status looked_up = sink_guard(error, [&] {
      const Param& param = me.table_.by_use(me.chunk_, index);
      if (!param.declaration->is_trained()) return;
      const int32_t left = me.missing_[static_cast<size_t>(param.index)].fetch_sub(1) - 1;
      if (left < 0) throw PluginError("the gradient of " + param.name() + " was reported twice in one backward");
      if (left == 0) status = me.report(param.index, error);
    });
    return looked_up == SLW_OK ? status : looked_up;
  }

  static slw_status param_acquire(slw_step_hooks* hooks, int32_t index, const slw_stream*, void** data, void** grad,
                                  slw_error* error) {
    StepHooks& me = self(hooks);
    slw_status status = SLW_OK;
    const slw_status looked_up = sink_guard(error, [&] {
      const Param& param = me.table_.by_use(me.chunk_, index);
      status = me.acquire(param.index, error);
      if (data != nullptr) *data = me.store_.data(param.index);
      if (grad != nullptr) *grad = me.store_.grad(param.index);
    });
    return looked_up == SLW_OK ? status : looked_up;
  }

  static slw_status param_release(slw_step_hooks* hooks, int32_t index, const slw_stream*, slw_error* error) {
    StepHooks& me = self(hooks);
    return sink_guard(error, [&] { me.table_.by_use(me.chunk_, index); });
  }

  static slw_status rng_reserve(slw_step_hooks* hooks, const char* stream, uint64_t increments, uint64_t* seed,
                                uint64_t* offset, slw_error* error) {
    return sink_guard(error, [&] {
      const StreamTracker::Stream reserved = self(hooks).reserve(stream == nullptr ? "" : stream, increments);
      *seed = reserved.seed;
      *offset = reserved.offset;
    });
  }
};

StepHooks::StepHooks(const ParamTable& table, const ParamStore& store, HostDp& dp, bool acquires,
                     StreamTracker* streams)
    : table_(table),
      store_(store),
      dp_(dp),
      acquires_(acquires),
      missing_(table.params().size()),
      acquired_(table.params().size()),
      streams_(streams),
      hooks_{} {
  hooks_.struct_size = SLW_SIZE_TO(slw_step_hooks, rng_reserve);
  hooks_.impl = this;
  hooks_.grad_ready = StepHookCallbacks::grad_ready;
  hooks_.param_acquire = StepHookCallbacks::param_acquire;
  hooks_.param_release = StepHookCallbacks::param_release;
  if (streams != nullptr) hooks_.rng_reserve = StepHookCallbacks::rng_reserve;
}

void StepHooks::begin(int32_t chunk, int32_t microbatch, bool is_last_microbatch) {
  chunk_ = chunk;
  microbatch_ = microbatch;
  is_last_ = is_last_microbatch;
  for (const Param& param : table_.params()) {
    int32_t uses = 0;
    for (const ParamUse& use : param.uses) uses += use.chunk == chunk ? 1 : 0;
    missing_[static_cast<size_t>(param.index)] = uses;
  }
}

void StepHooks::begin_reserving(Reserving how) {
  reserving_ = how;
  next_noted_ = 0;
  if (how == Reserving::kNoted) noted_[{chunk_, microbatch_}].clear();
}

StreamTracker::Stream StepHooks::reserve(const std::string& stream, uint64_t increments) {
  Reservations& noted = noted_[{chunk_, microbatch_}];
  if (reserving_ == Reserving::kAgain) {
    const bool is_alike =
        next_noted_ < noted.size() && noted[next_noted_].stream == stream && noted[next_noted_].blocks == increments;
    if (is_alike) return noted[next_noted_++].got;
    throw PluginError("a repeated forward has to reserve the random numbers of the first in the same order; number " +
                      std::to_string(next_noted_ + 1) + ", " + std::to_string(increments) + " blocks of " + stream +
                      ", is not what the first asked for");
  }
  const StreamTracker::Stream reserved = streams_->reserve(stream, increments);
  if (reserving_ == Reserving::kNoted) noted.push_back({stream, increments, reserved});
  return reserved;
}

slw_status StepHooks::acquire(int32_t param, slw_error* error) {
  std::atomic<uint64_t>& acquired = acquired_[static_cast<size_t>(param)];
  const uint64_t version = store_.weights_version();
  if (acquired == version) return SLW_OK;
  const slw_status status = dp_.wait_param(param, error);
  if (status == SLW_OK) acquired = version;
  return status;
}

slw_status StepHooks::report(int32_t param, slw_error* error) {
  if (acquires_ && acquired_[static_cast<size_t>(param)] != store_.weights_version()) {
    throw PluginError("the model used " + table_.params()[static_cast<size_t>(param)].name() +
                      " without param_acquire after its last update, although it says SLW_MODEL_ACQUIRES; acquire it "
                      "in forward before its first use");
  }
  const slw_ready_args args{
      SLW_SIZE_TO(slw_ready_args, stream), 0, param, microbatch_, is_last_ ? 1 : 0, 0, {kCpu, nullptr}};
  return dp_.grad_ready(args, error);
}

void StepHooks::finish_backward() {
  for (const Param& param : table_.params()) {
    if (!param.declaration->is_trained() || missing_[static_cast<size_t>(param.index)].exchange(0) <= 0) continue;
    call({"data-parallel backend"}, "grad_ready", [&](slw_error* error) { return report(param.index, error); });
  }
}

}  // namespace slipway
