// Data-parallel backend "ddp": every rank of a group holds all parameters, sums gradients with the others in buckets,
// and updates everything itself.
#include <slipway/sdk.hpp>

#include "plugins/ddp/backend.h"
#include "plugins/ddp/options.h"

namespace {

constexpr slw::Options kOptions{ddp::kBucketSize, ddp::kNumBuckets, ddp::kOverlapGradReduce, ddp::kGradReduceInFp32,
                                ddp::kAverageInCollective};

class Ddp : public ddp::Backend {
 public:
  Ddp(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : Backend(host, ddp::layout_options(config, run), ddp::reduce_options(config)) {}

  void attach(const slw_attach_args& args) { attach_gradients(args); }
};

constexpr slw_component kDdp =
    slw::dp<Ddp>({"ddp", "All ranks hold all parameters; gradients are summed by all-reduce."}, kOptions);
constexpr slw::About kAbout{"org.slipway.ddp", "0.2.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kDdp);
