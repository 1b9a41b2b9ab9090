// The options that both backends have, under Megatron's names and spellings.
#pragma once

#include <slipway/sdk.hpp>

#include "plugins/ddp/layout.h"
#include "plugins/ddp/reducer.h"

namespace ddp {

inline constexpr const char* kGradDtypeFlags[] = {"accumulate-allreduce-grads-in-fp32=true",
                                                  "grad-reduce-in-bf16=false", nullptr};
inline constexpr const char* kAverageFlag[] = {"ddp-average-in-collective", nullptr};

inline constexpr slw::Option kBucketSize =
    slw::int_option("ddp_bucket_size", "null",
                    "Gradients reduced at once, in elements; unset: 40,000,000, or 1,000,000 per data-parallel rank if "
                    "that is more. Pipeline stages and model chunks after the first have one bucket.")
        .min("1");
inline constexpr slw::Option kNumBuckets =
    slw::int_option("ddp_num_buckets", "null",
                    "Sets ddp_bucket_size to the rank's parameters divided by this; give one of the two.")
        .min("1");
inline constexpr slw::Option kOverlapGradReduce =
    slw::bool_option("overlap_grad_reduce", "true",
                     "Start reducing a bucket while backward still runs. The numbers are the same either way.");
inline constexpr slw::Option kGradReduceInFp32 =
    slw::bool_option("grad_reduce_in_fp32", "true",
                     "Accumulate and reduce gradients in fp32, whatever the parameter; false: in the parameter's type.")
        .aliases(kGradDtypeFlags);
inline constexpr slw::Option kAverageInCollective =
    slw::bool_option("average_in_collective", "false",
                     "Divide gradients by the number of ranks before the reduction and multiply them after it, which "
                     "keeps low-precision sums in range. In host memory only.")
        .aliases(kAverageFlag);

// Throws slw::Error for options that contradict each other. The layout is not sharded.
LayoutOptions layout_options(const slw::Config& config, const slw_run_info& run);
ReduceOptions reduce_options(const slw::Config& config);

}  // namespace ddp
