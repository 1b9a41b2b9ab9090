#include "core/pretrain/make_dataset.h"

namespace slipway {

std::unique_ptr<HostDataset> make_dataset(const Runtime& runtime) {
  const TrainConfig& train = runtime.config().train;
  const slw_dataset_args args{SLW_SIZE_TO(slw_dataset_args, cache_dir), 0, train.seq_length,
                              static_cast<uint64_t>(train.seed), nullptr};
  const ProviderPlan& data = runtime.plan.data;
  return std::make_unique<HostDataset>(data.component, *runtime.host, data.options_json, args);
}

}  // namespace slipway
