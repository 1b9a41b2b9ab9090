#include "core/pretrain/whole_model.h"

#include <set>

#include "core/parallel/stages.h"

namespace slipway {
namespace {

std::set<int32_t> stages_of(const Param& param) {
  std::set<int32_t> stages;
  for (const ParamUse& use : param.uses) stages.insert(use.chunk);
  return stages;
}

void check_ties(const WholeModel& whole) {
  const std::set<int32_t> ends{0, whole.num_stages() - 1};
  for (const Param& param : whole.table.params()) {
    const std::set<int32_t> stages = stages_of(param);
    if (stages.size() <= 1 || stages == ends) continue;
    std::string list;
    for (const int32_t stage : stages) list += (list.empty() ? "" : ", ") + std::to_string(stage);
    throw PluginError("parameter " + param.name() + " is tied over the pipeline stages " + list +
                      "; copies on the first and the last stage can be kept equal, others cannot");
  }
}

}  // namespace

WholeModel declare_whole(const HostModel& model, const ModelDescription& description, const ParallelConfig& parallel) {
  WholeModel whole;
  whole.pp = static_cast<int>(parallel.pipeline_model_parallel_size);
  whole.stages = cut_stages(parallel.pipeline, whole.pp, description.num_layers);
  whole.chunks_per_rank = whole.num_stages() / whole.pp;
  for (int v = 0; v < whole.num_stages(); ++v) model.declare(whole.stages[static_cast<size_t>(v)], v, whole.table);
  check_ties(whole);
  return whole;
}

ParamTable declare_rank(const HostModel& model, const WholeModel& whole, int pp_rank, const GroupPlaces& places) {
  ParamTable table(places);
  const std::vector<slw_stage> chunks = stages_of_rank(whole.stages, whole.pp, pp_rank);
  for (size_t c = 0; c < chunks.size(); ++c) model.declare(chunks[c], static_cast<int32_t>(c), table);
  if (whole.is_on_rank(0, pp_rank)) return table;
  for (const std::string& tie : crossing_ties(whole)) table.mark_shared_copy(tie);
  return table;
}

std::vector<std::string> crossing_ties(const WholeModel& whole) {
  std::vector<std::string> ties;
  for (const Param& param : whole.table.params()) {
    if (stages_of(param).size() > 1) ties.emplace_back(param.decl().tie);
  }
  return ties;
}

double flops_per_sample(const HostModel& model, const WholeModel& whole, const TrainConfig& train, int tp) {
  double flops = 0;
  for (const slw_stage& stage : whole.stages) {
    const auto cost = model.cost(stage, train.micro_batch_size, train.seq_length);
    if (!cost) return 0;
    flops += cost->flops_forward + cost->flops_backward;
  }
  return flops * tp / static_cast<double>(train.micro_batch_size);
}

}  // namespace slipway
