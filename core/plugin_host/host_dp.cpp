#include "core/plugin_host/host_dp.h"

#include "core/params/read_struct.h"
#include "core/plugin_host/sink.h"

namespace slipway {
namespace {

constexpr slw_stream kCpuStream{{SLW_DEVICE_CPU, 0}, nullptr};

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

slw_status add_buffer(slw_plan_sink* sink, const slw_buffer_plan* other, int32_t* id, slw_error* error) {
  return sink_guard(error, [&] {
    auto& plan = *static_cast<DpPlan*>(sink->impl);
    const slw_buffer_plan b = read_struct(other, "slw_buffer_plan");
    check_flags(b.flags, SLW_BUFFER_PARAM_SHARDED | SLW_BUFFER_GRAD_SHARDED, "slw_buffer_plan");
    if (id != nullptr) *id = static_cast<int32_t>(plan.buffers.size());
    plan.buffers.push_back({b.flags, b.param, b.grad, b.numel, text_or_empty(b.shard_group),
                            text_or_empty(b.replica_group), b.unit, b.chunk});
  });
}

slw_status add_bucket(slw_plan_sink* sink, int32_t buffer, int64_t begin, int64_t end, slw_error* error) {
  return sink_guard(error, [&] { static_cast<DpPlan*>(sink->impl)->buckets.push_back({buffer, begin, end}); });
}

slw_status add_place(slw_plan_sink* sink, int32_t param, int32_t buffer, int64_t offset, slw_error* error) {
  return sink_guard(error, [&] { static_cast<DpPlan*>(sink->impl)->places.push_back({param, buffer, offset}); });
}

slw_status add_shard(slw_plan_sink* sink, int32_t param, int32_t owner, int64_t begin, int64_t end, slw_error* error) {
  return sink_guard(error, [&] { static_cast<DpPlan*>(sink->impl)->shards.push_back({param, owner, begin, end}); });
}

}  // namespace

std::string DpPlan::to_text() const {
  std::string text;
  const auto add = [&](const char* word, std::initializer_list<int64_t> numbers) {
    text += word;
    for (const int64_t number : numbers) text += " " + std::to_string(number);
    text += '\n';
  };
  for (const Buffer& b : buffers) {
    add("buffer", {b.flags, b.param.code, b.param.bits, b.grad.code, b.grad.bits, b.numel, b.unit, b.chunk});
    text += b.shard_group + " " + b.replica_group + "\n";
  }
  for (const Bucket& b : buckets) add("bucket", {b.buffer, b.begin, b.end});
  for (const Place& p : places) add("place", {p.param, p.buffer, p.offset});
  for (const Shard& s : shards) add("shard", {s.param, s.owner, s.begin, s.end});
  return text;
}

HostDp::HostDp(const Component& component, const Host& host, const std::string& config_json, const slw_run_info& run)
    : table_(static_cast<const slw_dp_vtable*>(component.get().vtable)), site_(component.site()) {
  call(site_, "create", [&](slw_error* e) { return table_->create(host.get(), config_json.c_str(), &run, &dp_, e); });
}

HostDp::~HostDp() {
  const CallMark mark = site_.mark("destroy");
  if (dp_ != nullptr) table_->destroy(dp_);
}

DpPlan HostDp::plan(const std::vector<const slw_dp_param*>& params) const {
  DpPlan plan;
  slw_plan_sink sink{SLW_SIZE_TO(slw_plan_sink, shard), 0, &plan, add_buffer, add_bucket, add_place, add_shard};
  call(site_, "plan",
       [&](slw_error* e) { return table_->plan(dp_, static_cast<uint32_t>(params.size()), params.data(), &sink, e); });
  return plan;
}

void HostDp::attach(const std::vector<const slw_buffer*>& buffers) {
  const slw_attach_args args{
      SLW_SIZE_TO(slw_attach_args, pool), 0, static_cast<uint32_t>(buffers.size()), 0, buffers.data(), nullptr};
  call(site_, "attach", [&](slw_error* e) { return table_->attach(dp_, &args, e); });
}

void HostDp::step_begin() {
  call(site_, "step_begin", [&](slw_error* e) { return table_->step_begin(dp_, &kCpuStream, e); });
}

slw_status HostDp::grad_ready(const slw_ready_args& args, slw_error* error) noexcept {
  const CallMark mark = site_.mark("grad_ready");
  return table_->grad_ready(dp_, &args, error);
}

void HostDp::grad_reduce_finish() {
  call(site_, "grad_reduce_finish", [&](slw_error* e) { return table_->grad_reduce_finish(dp_, &kCpuStream, e); });
}

void HostDp::start_gather() {
  if (!SLW_HAS_FN(table_, slw_dp_vtable, param_gather_start)) return;
  call(site_, "param_gather_start", [&](slw_error* e) { return table_->param_gather_start(dp_, &kCpuStream, e); });
}

void HostDp::finish_gather() {
  constexpr int32_t kAll = -1;
  call(site_, "param_gather_wait", [&](slw_error* e) { return wait_param(kAll, e); });
}

slw_status HostDp::wait_param(int32_t param, slw_error* error) noexcept {
  if (!SLW_HAS_FN(table_, slw_dp_vtable, param_gather_wait)) return SLW_OK;
  const CallMark mark = site_.mark("param_gather_wait");
  return table_->param_gather_wait(dp_, param, &kCpuStream, error);
}

}  // namespace slipway
