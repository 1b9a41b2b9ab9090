#include "tests/conformance/dp/dp_instance.h"

#include <algorithm>
#include <stdexcept>

namespace {

int64_t kOne = 1;

DpRecord& record_of(slw_plan_sink* sink) { return *static_cast<DpRecord*>(sink->impl); }

slw_status record_buffer(slw_plan_sink* sink, const slw_buffer_plan* plan, int32_t* id, slw_error*) {
  *id = static_cast<int32_t>(record_of(sink).buffers.size());
  record_of(sink).buffers.push_back({*plan, plan->shard_group == nullptr ? "" : plan->shard_group});
  return SLW_OK;
}
slw_status record_bucket(slw_plan_sink* sink, int32_t buffer, int64_t begin, int64_t end, slw_error*) {
  record_of(sink).buckets.push_back({buffer, begin, end});
  return SLW_OK;
}
slw_status record_place(slw_plan_sink* sink, int32_t param, int32_t buffer, int64_t offset, slw_error*) {
  record_of(sink).places.push_back({param, buffer, offset});
  return SLW_OK;
}
slw_status record_shard(slw_plan_sink* sink, int32_t param, int32_t owner, int64_t begin, int64_t end, slw_error*) {
  record_of(sink).shards.push_back({param, owner, begin, end});
  return SLW_OK;
}

constexpr slw_stream kCpuStream{{SLW_DEVICE_CPU, 0}, nullptr};

}  // namespace

DpTable::DpTable(std::vector<Row> rows) : rows_(std::move(rows)) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    slw_param_decl& decl = decls_.emplace_back(slw::make<slw_param_decl>());
    decl.name = row.name.c_str();
    decl.dtype = row.dtype;
    decl.ndim = 1;
    decl.global_shape = &row.numel;
    decl.tie = row.tie.empty() ? nullptr : row.tie.c_str();
    decl.flags = row.group == "edp" ? uint32_t{SLW_PARAM_EXPERT} : 0u;
    slw_dp_param& param = params_.emplace_back(slw::make<slw_dp_param>());
    param.index = static_cast<int32_t>(i);
    param.chunk = row.chunk;
    param.unit = -1;
    param.decl = &decl;
    param.local_numel = row.numel;
    param.backward_order = static_cast<int32_t>(rows_.size() - 1 - i);
    param.group = row.group.c_str();
  }
}

std::vector<const slw_dp_param*> DpTable::params() const {
  std::vector<const slw_dp_param*> pointers;
  for (const slw_dp_param& param : params_) pointers.push_back(&param);
  return pointers;
}

std::string DpRecord::text() const {
  std::string text;
  for (const Buffer& b : buffers) {
    text += slw::cat("buffer ", slw::dtype_name(b.plan.param), " ", slw::dtype_name(b.plan.grad), " ", b.plan.numel,
                     " ", b.group, " ", b.plan.flags, " ", b.plan.unit, " ", b.plan.chunk, "\n");
  }
  for (const Bucket& b : buckets) text += slw::cat("bucket ", b.buffer, " ", b.begin, " ", b.end, "\n");
  for (const Place& p : places) text += slw::cat("place ", p.param, " ", p.buffer, " ", p.offset, "\n");
  for (const Shard& s : shards) text += slw::cat("shard ", s.param, " ", s.owner, " ", s.begin, " ", s.end, "\n");
  return text;
}

const DpRecord::Place& DpRecord::place_of(int32_t param) const {
  const auto at = std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.param == param; });
  if (at == places.end()) throw std::runtime_error(slw::cat("parameter ", param, " is not placed"));
  return *at;
}

std::vector<DpRecord::Shard> DpRecord::owned(int32_t param, int32_t rank, int64_t numel) const {
  std::vector<Shard> found;
  bool is_sharded = false;
  for (const Shard& shard : shards) {
    if (shard.param != param) continue;
    is_sharded = true;
    if (shard.owner == rank) found.push_back(shard);
  }
  if (!is_sharded) found.push_back({param, rank, 0, numel});
  return found;
}

slw_run_info dp_run(int32_t dp_size, int32_t dp_rank, int32_t edp_size) {
  slw_run_info run = slw::make<slw_run_info>();
  for (int32_t* size : {&run.tp_size, &run.pp_size, &run.cp_size, &run.ep_size, &run.etp_size, &run.vpp_size})
    *size = 1;
  run.dp_size = dp_size;
  run.dp_rank = dp_rank;
  run.edp_size = edp_size;
  run.edp_rank = dp_rank % edp_size;
  run.param_dtype = slw::f32;
  run.grad_dtype = slw::f32;
  run.device = {SLW_DEVICE_CPU, 0};
  run.run_json = "{}";
  return run;
}

DpInstance::DpInstance(const slw_component& component, const slw_host* host, const slw_run_info& run,
                       const std::string& options)
    : table_(*static_cast<const slw_dp_vtable*>(component.vtable)) {
  const std::string config = complete_config(component, options);
  slw::call([&](slw_error* e) { return table_.create(host, config.c_str(), &run, &dp_, e); });
}

DpInstance::~DpInstance() {
  if (dp_ != nullptr) table_.destroy(dp_);
}

const DpRecord& DpInstance::plan(const DpTable& table) {
  record_ = {};
  slw_plan_sink sink = slw::make<slw_plan_sink>();
  sink.impl = &record_;
  sink.buffer = record_buffer;
  sink.bucket = record_bucket;
  sink.place = record_place;
  sink.shard = record_shard;
  const std::vector<const slw_dp_param*> params = table.params();
  const auto n = static_cast<uint32_t>(params.size());
  slw::call([&](slw_error* e) { return table_.plan(dp_, n, params.data(), &sink, e); });
  return record_;
}

void DpInstance::attach() {
  for (const DpRecord::Buffer& planned : record_.buffers) {
    const auto numel = static_cast<std::size_t>(planned.plan.numel);
    grads_.emplace_back(numel);
    params_.emplace_back(numel);
    int64_t* shape = &shapes_.emplace_back(planned.plan.numel);
    slw_buffer& buffer = buffers_.emplace_back(slw::make<slw_buffer>());
    buffer.id = static_cast<int32_t>(buffers_.size() - 1);
    buffer.grad = {grads_.back().data(), {SLW_DEVICE_CPU, 0}, 1, planned.plan.grad, shape, &kOne, 0};
    buffer.param = {params_.back().data(), {SLW_DEVICE_CPU, 0}, 1, planned.plan.param, shape, &kOne, 0};
  }
  attach(buffers());
}

void DpInstance::attach(const std::vector<const slw_buffer*>& buffers) {
  slw_attach_args args = slw::make<slw_attach_args>();
  args.num_buffers = static_cast<uint32_t>(buffers.size());
  args.buffers = buffers.data();
  slw::call([&](slw_error* e) { return table_.attach(dp_, &args, e); });
}

void DpInstance::step_begin() {
  slw::call([&](slw_error* e) { return table_.step_begin(dp_, &kCpuStream, e); });
}

void DpInstance::ready(int32_t param, bool is_last_microbatch, void* stream) {
  slw_ready_args args = slw::make<slw_ready_args>();
  args.index = param;
  args.last_microbatch = is_last_microbatch ? 1 : 0;
  args.stream = {{SLW_DEVICE_CPU, 0}, stream};
  slw::call([&](slw_error* e) { return table_.grad_ready(dp_, &args, e); });
}

void DpInstance::finish() {
  slw::call([&](slw_error* e) { return table_.grad_reduce_finish(dp_, &kCpuStream, e); });
}

bool DpInstance::gathers() const { return SLW_HAS_FN(&table_, slw_dp_vtable, param_gather_start); }

void DpInstance::gather_start() {
  slw::call([&](slw_error* e) { return table_.param_gather_start(dp_, &kCpuStream, e); });
}

void DpInstance::gather_wait(int32_t param) {
  slw::call([&](slw_error* e) { return table_.param_gather_wait(dp_, param, &kCpuStream, e); });
}

std::vector<const slw_buffer*> DpInstance::buffers() const {
  std::vector<const slw_buffer*> pointers;
  for (const slw_buffer& buffer : buffers_) pointers.push_back(&buffer);
  return pointers;
}

float* DpInstance::grad(int32_t param) {
  const DpRecord::Place& place = record_.place_of(param);
  return grads_[static_cast<std::size_t>(place.buffer)].data() + place.offset;
}

float* DpInstance::param(int32_t param) {
  const DpRecord::Place& place = record_.place_of(param);
  return params_[static_cast<std::size_t>(place.buffer)].data() + place.offset;
}

void DpInstance::zero_grads() {
  for (std::vector<float>& grad : grads_) std::fill(grad.begin(), grad.end(), 0.0f);
}

DpRecord plan_of(const slw_component& component, const std::vector<DpTable::Row>& rows, const std::string& options,
                 const slw_run_info& run) {
  ToyHost bare;
  DpInstance dp(component, bare.get(), run, options);
  const DpTable table(rows);
  return dp.plan(table);
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const slw::Error& failure) {
    return failure.what();
  }
  return "";
}
