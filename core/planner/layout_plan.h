// What a run will be, worked out without ranks and without a device: groups, stages, buckets, memory, compute,
// communication. Built from the same functions as the run itself, so that it cannot tell another story. A value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/comm/mesh.h"
#include "core/plugin_host/host_dp.h"
#include "core/plugin_host/host_model.h"
#include "core/pretrain/run_plan.h"
#include "core/pretrain/whole_model.h"

namespace slipway {

// Bytes of one rank.
struct MemoryPlan {
  int64_t parameters = 0, gradients = 0, optimizer = 0;  // lasting, in the core's buffers
  int64_t data = 0;                                      // batches of this step and the next
  int64_t activations = 0;  // most at once: kept for backward and between stages, with the workspace beside them

  int64_t total() const { return parameters + gradients + optimizer + data + activations; }
};

// One model chunk of a rank.
struct ChunkPlan {
  slw_stage stage{};
  int64_t parameters = 0;                     // logical, of the whole chunk
  int64_t local_parameters = 0;               // of one rank: padded, cut over tp
  std::optional<ModelCost> cost;              // of one microbatch on one rank; nullopt: the model does not say
  int64_t input_bytes = 0, output_bytes = 0;  // of the activations that come and go per microbatch
};

// What the ranks of one pipeline rank hold and do. They differ in their shards alone: numbers are those of the
// data-parallel rank that owns most.
struct RankPlan {
  int pp_rank = 0;
  std::vector<ChunkPlan> chunks;
  DpPlan buckets;
  MemoryPlan memory;
  std::vector<CommVolume> communication;  // per step, by group and operation
  double flops = 0;                       // per step
  int32_t max_live = 0;                   // most microbatches in flight
};

struct LayoutPlan {
  Config config;
  std::string model, data_parallel;
  Mesh mesh{MeshSizes{}};
  WholeModel whole;
  int64_t parameters = 0;  // of the model: without padding, ties once
  int64_t num_microbatches = 0;
  double flops = 0;                     // of a step, all ranks
  double bubble = 0;                    // standing still, as a part of computing
  std::string picture;                  // of the pipeline, one line per rank; "" without pipelining
  std::vector<RankPlan> ranks;          // by pipeline rank
  std::vector<std::string> exceptions;  // why numbers may depend on the layout; empty: they do not
};

// Throws what the run itself would be refused with. `world_size` ranks.
LayoutPlan make_layout_plan(const RunPlan& run, int world_size);

// For a person, and for a program.
std::string layout_plan_text(const LayoutPlan& plan);
std::string layout_plan_json(const LayoutPlan& plan);

}  // namespace slipway
