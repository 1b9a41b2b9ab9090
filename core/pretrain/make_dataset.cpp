#include "core/pretrain/make_dataset.h"

namespace slipway {

std::unique_ptr<HostDataset> make_dataset(const Runtime& runtime) { return make_dataset(runtime.plan, *runtime.host); }

std::unique_ptr<HostDataset> make_dataset(const RunPlan& plan, const Host& host) {
  const TrainConfig& train = plan.config.train;
  const slw_dataset_args args{SLW_SIZE_TO(slw_dataset_args, cache_dir), 0, train.seq_length,
                              static_cast<uint64_t>(train.seed), nullptr};
  return std::make_unique<HostDataset>(plan.data.component, host, plan.data.options_json, args);
}

}  // namespace slipway
