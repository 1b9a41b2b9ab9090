#include "plugins/ddp/options.h"

#include <algorithm>

namespace ddp {

namespace {

std::int64_t default_bucket_size(const slw_run_info& run) {
  const std::int64_t ranks = std::int64_t{std::max(run.dp_size, 1)} * std::max(run.cp_size, 1);
  return std::max<std::int64_t>(40'000'000, 1'000'000 * ranks);
}

void check_at_least_one(const char* name, std::optional<std::int64_t> value) {
  if (value.value_or(1) >= 1) return;
  throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("option '", name, "' is ", *value, ", it has to be at least 1"));
}

}  // namespace

LayoutOptions layout_options(const slw::Config& config, const slw_run_info& run) {
  const auto size = config.optional_integer("ddp_bucket_size"), number = config.optional_integer("ddp_num_buckets");
  if (size && number) {
    throw slw::Error(SLW_INVALID_ARGUMENT, "ddp_bucket_size and ddp_num_buckets are both given; leave one out");
  }
  check_at_least_one("ddp_bucket_size", size);
  check_at_least_one("ddp_num_buckets", number);
  LayoutOptions options;
  if (run.pp_rank == 0) options.bucket_size = size.value_or(default_bucket_size(run));
  options.num_buckets = number;
  options.param = run.param_dtype;
  options.is_grad_fp32 = config.boolean("grad_reduce_in_fp32");
  return options;
}

ReduceOptions reduce_options(const slw::Config& config) {
  return {config.boolean("overlap_grad_reduce"), config.boolean("average_in_collective")};
}

}  // namespace ddp
