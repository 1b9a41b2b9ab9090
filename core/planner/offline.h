// The plugins of a run as the planner asks them: instances without ranks, device or communication. One driver thread.
#pragma once

#include <memory>
#include <vector>

#include "core/optim/updates.h"
#include "core/plugin_host/host_dataset.h"
#include "core/plugin_host/host_dp.h"
#include "core/plugin_host/host_model.h"
#include "core/pretrain/run_plan.h"

namespace slipway {

class OfflineRun {
 public:
  // `plan` outlives it.
  OfflineRun(const RunPlan& plan, const Mesh& mesh);

  const slw_run_info& run_info() const { return run_info_; }
  const HostModel& model() const { return *model_; }
  const ModelDescription& description() const { return description_; }
  const Updates& updates() const { return *updates_; }
  // Bytes of one microbatch's fields.
  int64_t batch_bytes() const;
  // The backend of a pipeline rank.
  std::unique_ptr<HostDp> data_parallel(int pp_rank) const;

 private:
  const RunPlan& plan_;
  Host host_;
  std::unique_ptr<HostDataset> dataset_;
  slw_run_info run_info_;
  std::unique_ptr<HostModel> model_;
  ModelDescription description_;
  std::unique_ptr<Updates> updates_;  // without parameters
};

}  // namespace slipway
