#include <nlohmann/json.hpp>

#include "core/planner/layout_plan.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;

Json sizes_json(const LayoutPlan& plan) {
  const MeshSizes& s = plan.mesh.sizes();
  return {{"world_size", s.world},
          {"tp", s.tp},
          {"sequence_parallel", plan.config.parallel.sequence_parallel},
          {"pp", s.pp},
          {"vpp", plan.whole.chunks_per_rank},
          {"cp", s.cp},
          {"dp", plan.mesh.dp()},
          {"ep", s.ep},
          {"etp", s.etp},
          {"order", s.order}};
}

Json volume_json(const std::vector<CommVolume>& volumes) {
  Json list = Json::array();
  for (const CommVolume& v : volumes) {
    list.push_back({{"group", v.group}, {"op", v.op}, {"calls", v.calls}, {"bytes", v.bytes}});
  }
  return list;
}

Json memory_json(const MemoryPlan& m) {
  return {{"parameters", m.parameters},   {"gradients", m.gradients}, {"optimizer", m.optimizer}, {"data", m.data},
          {"activations", m.activations}, {"total", m.total()}};
}

Json chunk_json(const ChunkPlan& chunk, int virtual_stage) {
  Json json{{"virtual_stage", virtual_stage},
            {"layers", {chunk.stage.layer_begin, chunk.stage.layer_end}},
            {"embedding", chunk.stage.pre_process != 0},
            {"head", chunk.stage.post_process != 0},
            {"parameters", chunk.parameters},
            {"parameters_per_rank", chunk.local_parameters}};
  if (!chunk.cost) return json;
  json["flops_forward"] = chunk.cost->flops_forward;
  json["flops_backward"] = chunk.cost->flops_backward;
  json["saved_bytes"] = chunk.cost->saved_bytes;
  json["workspace_bytes"] = chunk.cost->workspace_bytes;
  return json;
}

Json buckets_json(const DpPlan& plan) {
  Json list = Json::array();
  for (const DpPlan::Bucket& b : plan.buckets) {
    const DpPlan::Buffer& buffer = plan.buffers[static_cast<size_t>(b.buffer)];
    list.push_back({{"buffer", b.buffer},
                    {"chunk", buffer.chunk},
                    {"group", buffer.shard_group},
                    {"begin", b.begin},
                    {"end", b.end}});
  }
  return list;
}

Json rank_json(const RankPlan& rank, int pp) {
  Json chunks = Json::array();
  for (size_t c = 0; c < rank.chunks.size(); ++c) {
    chunks.push_back(chunk_json(rank.chunks[c], static_cast<int>(c) * pp + rank.pp_rank));
  }
  return {{"pipeline_rank", rank.pp_rank},
          {"chunks", chunks},
          {"buckets", buckets_json(rank.buckets)},
          {"memory_bytes", memory_json(rank.memory)},
          {"max_live_microbatches", rank.max_live},
          {"flops_per_step", rank.flops},
          {"communication_per_step", volume_json(rank.communication)}};
}

}  // namespace

std::string layout_plan_json(const LayoutPlan& plan) {
  Json json;
  json["layout"] = sizes_json(plan);
  json["model"] = {{"name", plan.model}, {"parameters", plan.parameters}};
  json["step"] = {{"global_batch_size", *plan.config.train.global_batch_size},
                  {"micro_batch_size", plan.config.train.micro_batch_size},
                  {"num_microbatches", plan.num_microbatches},
                  {"tokens", *plan.config.train.global_batch_size * plan.config.train.seq_length},
                  {"flops", plan.flops},
                  {"bubble", plan.bubble}};
  json["pipeline_ranks"] = Json::array();
  for (const RankPlan& rank : plan.ranks) json["pipeline_ranks"].push_back(rank_json(rank, plan.whole.pp));
  json["groups"] = Json::object();
  for (const auto& [name, groups] : plan.mesh.all_groups()) json["groups"][name] = groups;
  json["layout_dependence"] = plan.exceptions;
  return json.dump(1);
}

}  // namespace slipway
