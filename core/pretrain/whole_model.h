// The model of all ranks as this rank can know it without asking them: every pipeline stage with its declarations,
// before cuts. From it follow what a checkpoint holds, which ties cross stages, and what the planner prints. Made
// offline; a value.
#pragma once

#include <string>
#include <vector>

#include "core/params/table.h"
#include "core/plugin_host/host_model.h"
#include "core/pretrain/config.h"

namespace slipway {

struct WholeModel {
  int pp = 1, chunks_per_rank = 1;
  std::vector<slw_stage> stages;  // virtual stage v is chunk v / pp of pipeline rank v % pp
  ParamTable table;               // uncut; the "chunk" of a use is the virtual stage

  int num_stages() const { return static_cast<int>(stages.size()); }
  bool is_on_rank(int stage, int pp_rank) const { return stage % pp == pp_rank; }
};

// Throws ConfigError for layers that do not divide, PluginError for a tie that this version cannot keep equal: one
// whose copies are anywhere but on the first and the last stage.
WholeModel declare_whole(const HostModel& model, const ModelDescription& description, const ParallelConfig& parallel);

// The chunks of `pp_rank` as that rank holds them: cut, with the copies of a tie that are not the first marked.
ParamTable declare_rank(const HostModel& model, const WholeModel& whole, int pp_rank, const GroupPlaces& places);

// Ties with copies on first and last stage, by name.
std::vector<std::string> crossing_ties(const WholeModel& whole);

// FLOPs of forward and backward of one sample through all stages on all `tp` ranks; 0: the model does not say.
double flops_per_sample(const HostModel& model, const WholeModel& whole, const TrainConfig& train, int tp);

}  // namespace slipway
