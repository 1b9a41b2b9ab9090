#include "core/plugin_host/host_optimizer.h"

#include "core/plugin_host/sink.h"

namespace slipway {
namespace {

slw_status set_layouts(slw_state_sink* sink, uint32_t acceptable, double cost, slw_error* error) {
  return sink_guard(error, [&] {
    auto& needs = *static_cast<OptimizerNeeds*>(sink->impl);
    needs.layouts = acceptable;
    needs.cost = cost;
  });
}

slw_status add_slot(slw_state_sink* sink, const char* name, slw_dtype dtype, int32_t extent, double fill,
                    slw_error* error) {
  return sink_guard(error, [&] {
    if (name == nullptr) throw PluginError("a state slot has no name");
    if (extent != SLW_STATE_LIKE_SHARD && extent != SLW_STATE_SCALAR) {
      throw PluginError(std::string("state slot '") + name + "' has an extent that this host does not know");
    }
    if (dtype.code != SLW_CODE_FLOAT || dtype.bits != 32 || dtype.lanes != 1) {
      throw PluginError(std::string("state slot '") + name + "' is not fp32, the only dtype of slots in this version");
    }
    static_cast<OptimizerNeeds*>(sink->impl)->slots.push_back({name, dtype, extent, fill});
  });
}

}  // namespace

HostOptimizer::HostOptimizer(const Component& component, const Host& host, const std::string& config_json,
                             const slw_run_info& run)
    : table_(static_cast<const slw_optimizer_vtable*>(component.get().vtable)),
      site_(component.site()),
      name_(component.get().name) {
  call(site_, "create",
       [&](slw_error* e) { return table_->create(host.get(), config_json.c_str(), &run, &optimizer_, e); });
}

HostOptimizer::~HostOptimizer() {
  const CallMark mark = site_.mark("destroy");
  if (optimizer_ != nullptr) table_->destroy(optimizer_);
}

bool HostOptimizer::claims(const slw_param_decl& decl) const {
  return !SLW_HAS_FN(table_, slw_optimizer_vtable, claims) || table_->claims(optimizer_, &decl) != 0;
}

OptimizerNeeds HostOptimizer::declare(const slw_param_decl& decl) const {
  OptimizerNeeds needs;
  slw_state_sink sink{SLW_SIZE_TO(slw_state_sink, slot), 0, &needs, set_layouts, add_slot};
  call(site_, "declare", [&](slw_error* e) { return table_->declare(optimizer_, &decl, &sink, e); });
  return needs;
}

void HostOptimizer::step(const std::vector<const slw_shard*>& shards, double grad_scale) {
  slw_opt_step_args args{};
  args.struct_size = SLW_SIZE_TO(slw_opt_step_args, stream);
  args.num_shards = static_cast<uint32_t>(shards.size());
  args.shards = shards.data();
  args.grad_scale = grad_scale;
  args.stream = {{SLW_DEVICE_CPU, 0}, nullptr};
  call(site_, "step", [&](slw_error* e) { return table_->step(optimizer_, &args, e); });
}

}  // namespace slipway
