#include "core/planner/offline.h"

#include "core/params/param.h"
#include "core/pretrain/check_layout.h"
#include "core/pretrain/make_dataset.h"

namespace slipway {
namespace {

Host::Services offline_services(const RunPlan& plan) {
  Host::Services services;
  services.seed = static_cast<uint64_t>(plan.config.train.seed);
  return services;
}

}  // namespace

OfflineRun::OfflineRun(const RunPlan& plan, const Mesh& mesh)
    : plan_(plan),
      host_(offline_services(plan)),
      dataset_(make_dataset(plan, host_)),
      run_info_(make_run_info(plan, mesh, dataset_->info().vocab_size)) {
  run_info_.flags |= SLW_RUN_OFFLINE;
  model_ = std::make_unique<HostModel>(plan.model.component, host_, plan.model.options_json, run_info_);
  description_ = model_->describe();
  std::vector<std::unique_ptr<HostOptimizer>> chain;
  for (const ProviderPlan& chosen : plan.optimizers) {
    chain.push_back(std::make_unique<HostOptimizer>(chosen.component, host_, chosen.options_json, run_info_));
  }
  updates_ = std::make_unique<Updates>(std::move(chain), std::vector<UpdateRange>{});
}

int64_t OfflineRun::batch_bytes() const {
  int64_t bytes = 0;
  for (const FieldSpec& field : dataset_->fields()) {
    bytes += element_count(field.shape) * field.dtype.bits / 8 * field.dtype.lanes;
  }
  return bytes * plan_.config.train.micro_batch_size;
}

std::unique_ptr<HostDp> OfflineRun::data_parallel(int pp_rank) const {
  slw_run_info run = run_info_;
  run.pp_rank = pp_rank;
  const ProviderPlan& chosen = plan_.data_parallel;
  return std::make_unique<HostDp>(chosen.component, host_, chosen.options_json, run);
}

}  // namespace slipway
