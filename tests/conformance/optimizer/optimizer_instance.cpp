#include "tests/conformance/optimizer/optimizer_instance.h"

namespace {

slw_status record_layouts(slw_state_sink* sink, uint32_t acceptable, double, slw_error*) {
  static_cast<OptimizerInstance::Declared*>(sink->impl)->layouts = acceptable;
  return SLW_OK;
}

slw_status record_slot(slw_state_sink* sink, const char* name, slw_dtype dtype, int32_t extent, double fill,
                       slw_error*) {
  static_cast<OptimizerInstance::Declared*>(sink->impl)->slots.push_back({name, dtype, extent, fill});
  return SLW_OK;
}

}  // namespace

OptimizerInstance::OptimizerInstance(const slw_component& component, const std::string& options, int num_threads)
    : table_(*static_cast<const slw_optimizer_vtable*>(component.vtable)), host_(num_threads) {
  const slw_run_info run = plain_run();
  const std::string config = complete_config(component, options);
  slw::call([&](slw_error* e) { return table_.create(host_.get(), config.c_str(), &run, &optimizer_, e); });
}

OptimizerInstance::~OptimizerInstance() {
  if (optimizer_ != nullptr) table_.destroy(optimizer_);
}

OptimizerInstance::Declared OptimizerInstance::declare(const slw_param_decl& decl) {
  Declared declared;
  slw_state_sink sink = slw::make<slw_state_sink>();
  sink.impl = &declared;
  sink.layouts = record_layouts;
  sink.slot = record_slot;
  slw::call([&](slw_error* e) { return table_.declare(optimizer_, &decl, &sink, e); });
  return declared;
}

void OptimizerInstance::step(const std::vector<const slw_shard*>& shards, double grad_scale) {
  const slw_opt_step_args args = step_args(shards, grad_scale);
  slw::call([&](slw_error* e) { return table_.step(optimizer_, &args, e); });
}

slw_run_info plain_run() {
  slw_run_info run = slw::make<slw_run_info>();
  for (int32_t* size : {&run.tp_size, &run.pp_size, &run.cp_size, &run.ep_size, &run.dp_size, &run.etp_size,
                        &run.edp_size, &run.vpp_size}) {
    *size = 1;
  }
  run.param_dtype = slw::f32;
  run.grad_dtype = slw::f32;
  run.device = {SLW_DEVICE_CPU, 0};
  run.run_json = "{}";
  return run;
}

slw_param_decl matrix_declaration() {
  static constexpr int64_t kShape[] = {64, 96};
  slw_param_decl decl = slw::make<slw_param_decl>();
  decl.name = "decoder.layers.0.mlp.linear_fc1.weight";
  decl.flags = SLW_PARAM_MATRIX;
  decl.ndim = 2;
  decl.global_shape = kShape;
  return decl;
}

slw_opt_step_args step_args(const std::vector<const slw_shard*>& shards, double grad_scale) {
  slw_opt_step_args args = slw::make<slw_opt_step_args>();
  args.num_shards = static_cast<uint32_t>(shards.size());
  args.shards = shards.data();
  args.grad_scale = grad_scale;
  args.stream = {{SLW_DEVICE_CPU, 0}, nullptr};
  return args;
}

TestShard::TestShard(FloatView param, FloatView grad, std::vector<FloatView> states)
    : decl_(matrix_declaration()), shard_(slw::make<slw_shard>()) {
  const auto keep = [this](FloatView view) {
    FloatView& kept = views_.emplace_back(std::move(view));
    kept.tensor.shape = kept.shape.data();
    kept.tensor.strides = kept.strides.data();
    return &kept.tensor;
  };
  shard_.master = *keep(std::move(param));
  shard_.grad = *keep(std::move(grad));
  for (FloatView& state : states) states_.push_back(keep(std::move(state)));
  shard_.decl = &decl_;
  shard_.num_states = static_cast<uint32_t>(states_.size());
  shard_.states = states_.data();
  shard_.lr = 0.01;
  shard_.weight_decay = 0.1;
  shard_.step = 1;
}

FloatView flat_view(float* data, int64_t n) { return strided_view(data, {n}, {1}); }

FloatView strided_view(float* data, std::vector<int64_t> shape, std::vector<int64_t> strides) {
  const auto ndim = static_cast<int32_t>(shape.size());
  return {std::move(shape), std::move(strides), {data, {SLW_DEVICE_CPU, 0}, ndim, slw::f32, nullptr, nullptr, 0}};
}
