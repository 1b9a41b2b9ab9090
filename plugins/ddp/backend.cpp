#include "plugins/ddp/backend.h"

#include "plugins/ddp/shards.h"

namespace ddp {

namespace {

slw_buffer_plan plan_of(const Buffer& buffer) {
  slw_buffer_plan plan = slw::make<slw_buffer_plan>();
  plan.param = buffer.param;
  plan.grad = buffer.grad;
  plan.numel = buffer.numel;
  plan.shard_group = buffer.group.c_str();
  plan.unit = -1;
  plan.chunk = buffer.chunk;
  return plan;
}

}  // namespace

void Backend::plan(slw::Items<const slw_dp_param> params, slw::PlanSink& sink) {
  if (reducer_) throw slw::Error(SLW_PRECONDITION, "plan after attach");
  layout_ = make_layout(params, layout_options_);
  for (const Buffer& buffer : layout_->buffers) sink.buffer(plan_of(buffer));
  for (const Bucket& bucket : layout_->buckets) sink.bucket(bucket.buffer, bucket.begin, bucket.end);
  for (const Place& place : layout_->places) sink.place(place.param, place.buffer, place.offset);
  for (const Shard& shard : shards_of(*layout_)) sink.shard(shard.param, shard.owner, shard.begin, shard.end);
}

void Backend::attach_gradients(const slw_attach_args& args) {
  if (!layout_) throw slw::Error(SLW_PRECONDITION, "attach before plan");
  reducer_ = std::make_unique<Reducer>(host_, *layout_, args, reduce_options_);
}

Reducer& Backend::attached() const {
  if (!reducer_) throw slw::Error(SLW_PRECONDITION, "a step before attach");
  return *reducer_;
}

}  // namespace ddp
