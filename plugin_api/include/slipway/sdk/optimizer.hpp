// Turns a class with plain member functions into an optimizer component. The class O has
//
//   O(slw::Host, const slw::Config&, const slw_run_info&);
//   void declare(const slw_param_decl&, slw::StateSink&);
//   void step(const slw_opt_step_args&);
// and, if it wants,
//   bool claims(const slw_param_decl&) const noexcept;    false: leave the parameter to the fallback
//
// declare and step may throw slw::Error.
#pragma once

#include <slipway/sdk/config.hpp>
#include <slipway/sdk/host.hpp>
#include <slipway/sdk/tensor.hpp>

SLW_SDK_BEGIN

// What declare() fills. Borrowed for the call.
class StateSink {
 public:
  explicit StateSink(slw_state_sink* sink) : sink_(sink) { check_struct(sink); }
  // Mask of SLW_LAYOUT_*; cost: relative work, for balancing whole matrices.
  void layouts(uint32_t acceptable, double cost = 0) {
    call([&](slw_error* e) { return sink_->layouts(sink_, acceptable, cost, e); });
  }
  void slot(const char* name, slw_dtype dtype, int32_t extent = SLW_STATE_LIKE_SHARD, double fill = 0) {
    call([&](slw_error* e) { return sink_->slot(sink_, name, dtype, extent, fill, e); });
  }

 private:
  slw_state_sink* sink_;
};

SLW_SDK_DETECT(claims);

template <class O>
class OptimizerOf {
 public:
  static constexpr slw_optimizer_vtable table() {
    slw_optimizer_vtable t = make<slw_optimizer_vtable>();
    t.create = create;
    t.destroy = destroy;
    t.declare = declare;
    t.step = step;
    if constexpr (has_claims<O>) t.claims = claims;
    return t;
  }

 private:
  static O& self(slw_optimizer* o) noexcept { return *reinterpret_cast<O*>(o); }

  static slw_status create(const slw_host* host, const char* json, const slw_run_info* run, slw_optimizer** out,
                           slw_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      const slw_run_info& info = checked(run, SLW_RUN_SEQUENCE_PARALLEL);
      *out = reinterpret_cast<slw_optimizer*>(new O(Host(host), Config(json), info));
    });
  }
  static void destroy(slw_optimizer* o) { delete &self(o); }
  static int32_t claims(slw_optimizer* o, const slw_param_decl* decl) {
    static_assert(noexcept(self(o).claims(*decl)), "claims() must be noexcept: it cannot report a failure");
    return self(o).claims(*decl) ? 1 : 0;
  }
  static slw_status declare(slw_optimizer* o, const slw_param_decl* decl, slw_state_sink* sink, slw_error* error) {
    return guard(error, [&] {
      check_struct(decl);
      StateSink states(sink);
      self(o).declare(*decl, states);
    });
  }
  static slw_status step(slw_optimizer* o, const slw_opt_step_args* args, slw_error* error) {
    return guard(error, [&] {
      for (const slw_shard& shard : items(checked(args).num_shards, args->shards)) check_struct(&shard);
      self(o).step(*args);
    });
  }
};

SLW_SDK_END
