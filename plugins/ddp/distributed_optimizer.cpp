// Data-parallel backend "distributed_optimizer": every rank of a group holds all parameters and gradients, but sums and
// updates only its part of each bucket, so that optimizer state is divided over the ranks; updated parts are gathered.
#include <numeric>
#include <slipway/sdk.hpp>

#include "plugins/ddp/backend.h"
#include "plugins/ddp/gatherer.h"
#include "plugins/ddp/options.h"

namespace {

constexpr const char* kPadFlag[] = {"ddp-pad-buckets-for-high-nccl-busbw", nullptr};
constexpr slw::Options kOptions{
    ddp::kBucketSize,
    ddp::kNumBuckets,
    ddp::kOverlapGradReduce,
    ddp::kGradReduceInFp32,
    ddp::kAverageInCollective,
    slw::bool_option("overlap_param_gather", "true",
                     "Gather updated parameters while the next step begins. The numbers are the same either way."),
    slw::bool_option("pad_buckets_for_high_nccl_busbw", "false",
                     "End every bucket at a multiple of 65,536 elements, which NCCL moves fastest.")
        .aliases(kPadFlag),
};

constexpr std::int64_t kGranularity = 128, kNcclGranularity = 65'536;  // elements

ddp::LayoutOptions sharded(const slw::Config& config, const slw_run_info& run) {
  ddp::LayoutOptions options = ddp::layout_options(config, run);
  options.ranks_of_group = {{"dp_cp", std::int64_t{run.dp_size} * run.cp_size}, {"edp", run.edp_size}};
  for (const auto& [group, ranks] : options.ranks_of_group) {
    if (ranks >= 1) continue;
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("the run's group ", group, " has ", ranks, " ranks"));
  }
  const bool pads = config.boolean("pad_buckets_for_high_nccl_busbw");
  options.granularity = pads ? std::lcm(kGranularity, kNcclGranularity) : kGranularity;
  return options;
}

class DistributedOptimizer : public ddp::Backend {
 public:
  DistributedOptimizer(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : Backend(host, sharded(config, run), ddp::reduce_options(config)),
        overlaps_(config.boolean("overlap_param_gather")) {}

  void attach(const slw_attach_args& args) {
    attach_gradients(args);
    gatherer_ = std::make_unique<ddp::Gatherer>(host(), layout(), args, overlaps_);
  }
  void param_gather_start(const slw_stream* stream) { attached().start(stream); }
  void param_gather_wait(std::int32_t param, const slw_stream* stream) { attached().wait(param, stream); }

 private:
  ddp::Gatherer& attached() const {
    if (!gatherer_) throw slw::Error(SLW_PRECONDITION, "a gather before attach");
    return *gatherer_;
  }

  bool overlaps_;
  std::unique_ptr<ddp::Gatherer> gatherer_;
};

constexpr slw_component kDistributedOptimizer = slw::dp<DistributedOptimizer>(
    {"distributed_optimizer", "Each rank sums and updates its share of the parameters (ZeRO-1); shares are gathered."},
    kOptions);
constexpr slw::About kAbout{"org.slipway.distributed_optimizer", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kDistributedOptimizer);
