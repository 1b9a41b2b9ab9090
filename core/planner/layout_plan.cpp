#include "core/planner/layout_plan.h"

#include "core/parallel/placement.h"
#include "core/parallel/schedule/simulate.h"
#include "core/parallel/stages.h"
#include "core/planner/estimates.h"
#include "core/planner/offline.h"
#include "core/pretrain/check_layout.h"
#include "core/pretrain/pipeline.h"
#include "core/pretrain/runtime.h"

namespace slipway {
namespace {

// Everything that the pipeline ranks' plans are made from.
struct PlanInputs {
  const OfflineRun& offline;
  const LayoutPlan& plan;
  const std::vector<RankProgram>& programs;
};

int64_t bytes_of(const std::vector<ActivationSpec>& specs) {
  int64_t bytes = 0;
  for (const ActivationSpec& spec : specs) {
    bytes += element_count(spec.shape) * spec.dtype.bits / 8 * spec.dtype.lanes;
  }
  return bytes;
}

ChunkPlan plan_chunk(const PlanInputs& in, const slw_stage& stage, int32_t chunk, const ParamTable& table) {
  const TrainConfig& train = in.plan.config.train;
  ChunkPlan result;
  result.stage = stage;
  for (const Param& param : table.params()) {
    if (param.uses.front().chunk != chunk) continue;
    result.parameters += element_count(param.declaration->global_shape());
    result.local_parameters += param.local_numel;
  }
  const IoSpec io = in.offline.model().io_spec(stage, train.micro_batch_size, train.seq_length);
  result.input_bytes = bytes_of(io.inputs);
  result.output_bytes = bytes_of(io.outputs);
  result.cost = in.offline.model().cost(stage, train.micro_batch_size, train.seq_length);
  return result;
}

bool reads_data(const PlanInputs& in, const std::vector<slw_stage>& chunks) {
  const TrainConfig& train = in.plan.config.train;
  for (const slw_stage& chunk : chunks) {
    if (!in.offline.model().io_spec(chunk, train.micro_batch_size, train.seq_length).fields.empty()) return true;
  }
  return false;
}

RankPlan plan_rank(const PlanInputs& in, int pp_rank) {
  const LayoutPlan& plan = in.plan;
  const GroupPlaces places{{"tp", {plan.mesh.sizes().tp, 0}}};
  const ParamTable table = declare_rank(in.offline.model(), plan.whole, pp_rank, places);
  const RankProgram& program = in.programs[static_cast<size_t>(pp_rank)];
  const bool recomputes = plan.config.parallel.pipeline.recomputes();
  RankPlan rank;
  rank.pp_rank = pp_rank;
  const std::vector<slw_stage> chunks = stages_of_rank(plan.whole.stages, plan.whole.pp, pp_rank);
  for (size_t c = 0; c < chunks.size(); ++c) {
    rank.chunks.push_back(plan_chunk(in, chunks[c], static_cast<int32_t>(c), table));
    const auto& cost = rank.chunks.back().cost;
    if (cost) rank.flops += (cost->flops_forward + cost->flops_backward) * static_cast<double>(plan.num_microbatches);
  }
  rank.buckets = make_plan(*in.offline.data_parallel(pp_rank), table);
  rank.memory = lasting_memory(table, rank.buckets, in.offline.updates());
  if (reads_data(in, chunks)) {
    const int64_t steps = plan.config.data.num_workers > 0 ? 2 : 1;
    rank.memory.data = steps * plan.num_microbatches * in.offline.batch_bytes();
  }
  rank.memory.activations = activation_peak(rank.chunks, program, recomputes);
  rank.max_live = program.max_live;
  rank.communication = communication_of(
      {rank.chunks, rank.buckets, table, crossing_ties(plan.whole), plan.mesh, plan.num_microbatches, 0, recomputes});
  return rank;
}

// Stages take as long as they compute; free transfers.
StageTimes times_of(const LayoutPlan& plan) {
  StageTimes times;
  for (int v = 0; v < plan.whole.num_stages(); ++v) {
    const RankPlan& rank = plan.ranks[static_cast<size_t>(v % plan.whole.pp)];
    const ChunkPlan& chunk = rank.chunks[static_cast<size_t>(v / plan.whole.pp)];
    const double layers = chunk.stage.layer_end - chunk.stage.layer_begin;
    times.forward.push_back(chunk.cost ? chunk.cost->flops_forward : layers);
    times.backward.push_back(chunk.cost ? chunk.cost->flops_backward : 2 * layers);
  }
  return times;
}

void add_timeline(const Schedule& schedule, LayoutPlan& plan) {
  const Timeline timeline = simulate(schedule, times_of(plan));
  constexpr double kColumns = 96;
  plan.bubble = timeline.bubble;
  if (plan.whole.pp > 1) plan.picture = gantt(timeline, timeline.total / kColumns);
}

std::vector<std::string> layout_exceptions(const Config& config, const ModelDescription& model) {
  std::vector<std::string> exceptions;
  if (config.train.loss_normalization == "microbatch") {
    exceptions.emplace_back("train.loss_normalization microbatch: a mean of microbatch means depends on their cut");
  }
  if (config.train.rng == "megatron") {
    exceptions.emplace_back("train.rng megatron: initial values and dropout come from streams per rank");
  }
  if ((model.capabilities & SLW_MODEL_INVARIANT_RNG) == 0) {
    exceptions.emplace_back("the model's random numbers are its own (it does not say SLW_MODEL_INVARIANT_RNG)");
  }
  return exceptions;
}

}  // namespace

LayoutPlan make_layout_plan(const RunPlan& run, int world_size) {
  LayoutPlan plan;
  plan.config = run.config;
  plan.model = run.model.name();
  plan.data_parallel = run.data_parallel.name();
  plan.mesh = Mesh(mesh_sizes(run.config.parallel, world_size));
  const BatchConfig batches = run.config.train.batches(plan.mesh.dp());
  check_batches(batches);
  check_schedule(run.config.train.schedule());
  const OfflineRun offline(run, plan.mesh);
  check_layout(run.config, plan.model, offline.description());
  plan.whole = declare_whole(offline.model(), offline.description(), run.config.parallel);
  plan.parameters = plan.whole.table.num_logical_elements();
  check_schedules(run.config.parallel, plan.whole.chunks_per_rank, batches);
  plan.num_microbatches = batches.global_batch / (batches.micro_batch * batches.data_parallel);
  const Schedule schedule = training_schedule(run.config.parallel, plan.whole.chunks_per_rank, plan.num_microbatches);
  const std::vector<RankProgram> programs = compile(schedule);
  for (int r = 0; r < plan.whole.pp; ++r) plan.ranks.push_back(plan_rank({offline, plan, programs}, r));
  for (const RankPlan& rank : plan.ranks) plan.flops += rank.flops * world_size / plan.whole.pp;
  add_timeline(schedule, plan);
  plan.exceptions = layout_exceptions(run.config, offline.description());
  return plan;
}

}  // namespace slipway
