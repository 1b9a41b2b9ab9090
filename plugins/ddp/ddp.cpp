// Data-parallel backend "ddp": every rank of a group holds all parameters, sums gradients with the others in buckets,
// and updates everything itself.
#include <algorithm>
#include <memory>
#include <optional>
#include <slipway/sdk.hpp>

#include "plugins/ddp/layout.h"
#include "plugins/ddp/reducer.h"

namespace {

constexpr const char* kNoOverlapFlag[] = {"no-overlap-grad-reduce=false", nullptr};
constexpr slw::Options kOptions{
    slw::int_option("ddp_bucket_size", "null",
                    "Gradients reduced at once, in elements; unset: 40,000,000, or 1,000,000 per data-parallel rank if "
                    "that is more.")
        .min("1"),
    slw::int_option("ddp_num_buckets", "null",
                    "Sets ddp_bucket_size to the rank's parameters divided by this; give one of the two.")
        .min("1"),
    slw::bool_option("overlap_grad_reduce", "true",
                     "Start reducing a bucket while backward still runs. The numbers are the same either way.")
        .aliases(kNoOverlapFlag),
};

std::int64_t default_bucket_size(const slw_run_info& run) {
  const std::int64_t ranks = std::int64_t{std::max(run.dp_size, 1)} * std::max(run.cp_size, 1);
  return std::max<std::int64_t>(40'000'000, 1'000'000 * ranks);
}

class Ddp {
 public:
  Ddp(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : host_(host),
        num_buckets_(config.optional_integer("ddp_num_buckets")),
        overlaps_(config.boolean("overlap_grad_reduce")),
        options_{config.optional_integer("ddp_bucket_size").value_or(default_bucket_size(run)), run.param_dtype,
                 run.grad_dtype} {
    if (num_buckets_ && config.has("ddp_bucket_size")) {
      throw slw::Error(SLW_INVALID_ARGUMENT, "ddp: ddp_bucket_size and ddp_num_buckets are both given; leave one out");
    }
    for (const std::int64_t value : {options_.bucket_size, num_buckets_.value_or(1)}) {
      if (value >= 1) continue;
      throw slw::Error(SLW_INVALID_ARGUMENT,
                       slw::cat("ddp: ddp_bucket_size or ddp_num_buckets is ", value, ", it has to be at least 1"));
    }
  }

  void plan(slw::Items<const slw_dp_param> params, slw::PlanSink& sink) {
    if (reducer_) throw slw::Error(SLW_PRECONDITION, "ddp: plan after attach");
    layout_ = ddp::make_layout(params, sized(params));
    for (const ddp::Buffer& buffer : layout_->buffers) sink.buffer(plan_of(buffer));
    for (const ddp::Bucket& bucket : layout_->buckets) sink.bucket(bucket.buffer, bucket.begin, bucket.end);
    for (const ddp::Place& place : layout_->places) sink.place(place.param, place.buffer, place.offset);
  }

  void attach(const slw_attach_args& args) {
    if (!layout_) throw slw::Error(SLW_PRECONDITION, "ddp: attach before plan");
    reducer_ = std::make_unique<ddp::Reducer>(host_, *layout_, args, overlaps_);
  }

  void step_begin(const slw_stream*) { attached().arm(); }
  void grad_ready(const slw_ready_args& args) { attached().ready(args); }
  void grad_reduce_finish(const slw_stream* stream) { attached().finish(stream); }

 private:
  ddp::LayoutOptions sized(slw::Items<const slw_dp_param> params) const {
    if (!num_buckets_) return options_;
    std::int64_t total = 0;
    for (const slw_dp_param& param : params) total += param.local_numel;
    ddp::LayoutOptions options = options_;
    options.bucket_size = std::max<std::int64_t>(total / *num_buckets_, 1);
    return options;
  }

  static slw_buffer_plan plan_of(const ddp::Buffer& buffer) {
    slw_buffer_plan plan = slw::make<slw_buffer_plan>();
    plan.param = buffer.param;
    plan.grad = buffer.grad;
    plan.numel = buffer.numel;
    plan.shard_group = buffer.group.c_str();
    plan.unit = -1;
    plan.chunk = buffer.chunk;
    return plan;
  }

  ddp::Reducer& attached() const {
    if (!reducer_) throw slw::Error(SLW_PRECONDITION, "ddp: a step before attach");
    return *reducer_;
  }

  slw::Host host_;
  std::optional<std::int64_t> num_buckets_;
  bool overlaps_;
  ddp::LayoutOptions options_;
  std::optional<ddp::Layout> layout_;
  std::unique_ptr<ddp::Reducer> reducer_;
};

constexpr slw_component kDdp =
    slw::dp<Ddp>({"ddp", "All ranks hold all parameters; gradients are summed by all-reduce."}, kOptions);
constexpr slw::About kAbout{"org.slipway.ddp", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kDdp);
