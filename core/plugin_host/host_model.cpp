#include "core/plugin_host/host_model.h"

#include "core/params/read_struct.h"
#include "core/plugin_host/sink.h"

namespace slipway {
namespace {

constexpr uint32_t kKnownCapabilities = (1u << 13) - 1;

LossDeclaration read_loss(const slw_loss_decl* other) {
  const slw_loss_decl decl = read_struct(other, "slw_loss_decl");
  check_flags(decl.flags, SLW_LOSS_INJECTED, "slw_loss_decl");
  if (decl.name == nullptr) throw PluginError("a loss was declared without a name");
  if (decl.norm < SLW_NORM_FIELD || decl.norm > SLW_NORM_OUTPUT) {
    throw PluginError(std::string("loss '") + decl.name + "' is divided by an unknown kind of count");
  }
  if (decl.norm == SLW_NORM_FIELD && decl.norm_field == nullptr) {
    throw PluginError(std::string("loss '") + decl.name + "' names no batch field to divide by");
  }
  return {decl.name, decl.norm, decl.norm_field == nullptr ? "" : decl.norm_field, decl.weight == 0 ? 1.0 : decl.weight,
          (decl.flags & SLW_LOSS_INJECTED) != 0};
}

struct DeclareTarget {
  ParamTable* table;
  int32_t chunk;
};

slw_status add_param(slw_param_sink* sink, const slw_param_decl* decl, int32_t* index, slw_error* error) {
  return sink_guard(error, [&] {
    auto& target = *static_cast<DeclareTarget*>(sink->impl);
    if (decl == nullptr) throw PluginError("slw_param_decl is NULL");
    if (index != nullptr) *index = target.table->num_uses(target.chunk);
    target.table->add(target.chunk, *decl);
  });
}

slw_status add_metric(slw_param_sink* sink, const char* name, int32_t length, int32_t reduce, const char* group,
                      slw_error* error) {
  return sink_guard(error, [&] {
    if (name == nullptr || group == nullptr || length < 1 || reduce < SLW_METRIC_LAST || reduce > SLW_METRIC_RATIO) {
      throw PluginError("a metric needs a name, a group, a length of at least 1 and a known reduction");
    }
    static_cast<DeclareTarget*>(sink->impl)->table->add_metric({name, group, length, reduce});
  });
}

slw_status add_activation(slw_io_sink* sink, int32_t is_output, slw_dtype dtype, int32_t ndim, const int64_t* shape,
                          slw_error* error) {
  return sink_guard(error, [&] {
    auto& spec = *static_cast<IoSpec*>(sink->impl);
    (is_output != 0 ? spec.outputs : spec.inputs).push_back({dtype, std::vector<int64_t>(shape, shape + ndim)});
  });
}

slw_status add_field(slw_io_sink* sink, const char* name, slw_dtype want, int32_t required, slw_error* error) {
  return sink_guard(error, [&] { static_cast<IoSpec*>(sink->impl)->fields.push_back({name, want, required != 0}); });
}

slw_status add_comm(slw_cost_sink* sink, const char* group, const char* op, int64_t calls, int64_t bytes,
                    slw_error* error) {
  return sink_guard(error, [&] {
    if (group == nullptr || op == nullptr) throw PluginError("communication in `cost` names no group or no operation");
    static_cast<std::vector<CommVolume>*>(sink->impl)->push_back({group, op, calls, bytes});
  });
}

}  // namespace

HostModel::HostModel(const Component& component, const Host& host, const std::string& config_json,
                     const slw_run_info& run)
    : table_(static_cast<const slw_model_vtable*>(component.get().vtable)), site_(component.site()) {
  call(site_, "create",
       [&](slw_error* e) { return table_->create(host.get(), config_json.c_str(), &run, &model_, e); });
}

HostModel::~HostModel() {
  const CallMark mark = site_.mark("destroy");
  if (model_ != nullptr) table_->destroy(model_);
}

ModelDescription HostModel::describe() const {
  slw_model_info info{};
  info.struct_size = SLW_SIZE_TO(slw_model_info, losses);
  call(site_, "describe", [&](slw_error* e) { return table_->describe(model_, &info, e); });
  check_flags(info.flags, kKnownCapabilities, "slw_model_info");
  ModelDescription description{info.flags,          info.num_layers,    info.min_vocab_size,
                               info.max_seq_length, info.table_version, {}};
  for (uint32_t i = 0; i < info.num_losses; ++i) {
    description.losses.push_back(read_loss(info.losses[i]));
    if (description.losses.back().norm == SLW_NORM_OUTPUT && info.num_losses != 1) {
      throw PluginError(site_.component + ": a loss whose count is known only after forward has to be the only one");
    }
  }
  return description;
}

void HostModel::declare(const slw_stage& stage, int32_t chunk, ParamTable& table) const {
  DeclareTarget target{&table, chunk};
  slw_param_sink sink{SLW_SIZE_TO(slw_param_sink, metric), 0, &target, add_param, add_metric};
  call(site_, "declare", [&](slw_error* e) { return table_->declare(model_, &stage, &sink, e); });
}

IoSpec HostModel::io_spec(const slw_stage& stage, int64_t batch_size, int64_t seq_length) const {
  IoSpec spec;
  slw_io_sink sink{SLW_SIZE_TO(slw_io_sink, batch_field), 0, &spec, add_activation, add_field};
  const slw_io_args args{SLW_SIZE_TO(slw_io_args, seq_length), 0, &stage, batch_size, seq_length};
  call(site_, "io_spec", [&](slw_error* e) { return table_->io_spec(model_, &args, &sink, e); });
  return spec;
}

std::optional<ModelCost> HostModel::cost(const slw_stage& stage, int64_t batch_size, int64_t seq_length) const {
  if (!SLW_HAS_FN(table_, slw_model_vtable, cost)) return std::nullopt;
  ModelCost result;
  slw_cost cost{};
  const auto ask = [&](uint32_t flags, std::vector<CommVolume>& comm) {
    cost.struct_size = SLW_SIZE_TO(slw_cost, workspace_bytes);
    slw_cost_sink sink{SLW_SIZE_TO(slw_cost_sink, comm), 0, &comm, add_comm};
    const slw_io_args args{SLW_SIZE_TO(slw_io_args, seq_length), flags, &stage, batch_size, seq_length};
    call(site_, "cost", [&](slw_error* e) { return table_->cost(model_, &args, &cost, &sink, e); });
  };
  ask(0, result.comm);
  ask(SLW_COST_FORWARD_COMM, result.forward_comm);
  result.flops_forward = cost.flops_forward, result.flops_backward = cost.flops_backward;
  result.saved_bytes = cost.saved_bytes, result.workspace_bytes = cost.workspace_bytes;
  return result;
}

void HostModel::bind(const slw_stage& stage, const std::vector<const slw_param_view*>& views) {
  const slw_bind_args args{SLW_SIZE_TO(slw_bind_args, params),  0, &stage,
                           static_cast<uint32_t>(views.size()), 0, views.data()};
  call(site_, "bind", [&](slw_error* e) { return table_->bind(model_, &args, e); });
}

void HostModel::unbind(const slw_stage& stage) {
  if (!SLW_HAS_FN(table_, slw_model_vtable, unbind)) return;
  call(site_, "unbind", [&](slw_error* e) { return table_->unbind(model_, &stage, e); });
}

void HostModel::init_param(int32_t index, slw_tensor& local, const std::vector<int64_t>& global_offset, uint64_t key) {
  if (!SLW_HAS_FN(table_, slw_model_vtable, init_param)) {
    throw PluginError(site_.component + ": a parameter has a custom initial value but the model has no init_param");
  }
  call(site_, "init_param",
       [&](slw_error* e) { return table_->init_param(model_, index, &local, global_offset.data(), key, e); });
}

void HostModel::step_begin(const slw_step_info& info) {
  if (!SLW_HAS_FN(table_, slw_model_vtable, step_begin)) return;
  call(site_, "step_begin", [&](slw_error* e) { return table_->step_begin(model_, &info, e); });
}

void HostModel::forward(const slw_forward_args& args) {
  call(site_, "forward", [&](slw_error* e) { return table_->forward(model_, &args, e); });
}

void HostModel::backward(const slw_backward_args& args) {
  call(site_, "backward", [&](slw_error* e) { return table_->backward(model_, &args, e); });
}

void HostModel::discard(const slw_stage& stage, int32_t slot) {
  const CallMark mark = site_.mark("discard");
  table_->discard(model_, &stage, slot);
}

void HostModel::step_end(const slw_step_info& info) {
  if (!SLW_HAS_FN(table_, slw_model_vtable, step_end)) return;
  call(site_, "step_end", [&](slw_error* e) { return table_->step_end(model_, &info, e); });
}

}  // namespace slipway
