#include <algorithm>
#include <string_view>

#include "core/parallel/placement.h"
#include "core/planner/estimates.h"

namespace slipway {
namespace {

constexpr int64_t kFloat = sizeof(float);

class Volumes {
 public:
  explicit Volumes(const Mesh& mesh) : mesh_(mesh) {}

  // Nothing for a group of one rank.
  void add(const std::string& group, const std::string& op, int64_t calls, int64_t bytes) {
    if (calls == 0 || bytes == 0 || mesh_.groups(group).front().size() == 1) return;
    for (CommVolume& known : volumes_) {
      if (known.group != group || known.op != op) continue;
      known.calls += calls;
      known.bytes += bytes;
      return;
    }
    volumes_.push_back({group, op, calls, bytes});
  }
  std::vector<CommVolume> take() { return std::move(volumes_); }

 private:
  const Mesh& mesh_;
  std::vector<CommVolume> volumes_;
};

void add_model(const CommInputs& in, Volumes& volumes) {
  for (const ChunkPlan& chunk : in.chunks) {
    if (!chunk.cost) continue;
    const auto add = [&](const std::vector<CommVolume>& comm) {
      for (const CommVolume& v : comm) {
        volumes.add(v.group, v.op, v.calls * in.num_microbatches, v.bytes * in.num_microbatches);
      }
    };
    add(chunk.cost->comm);
    if (in.recomputes) add(chunk.cost->forward_comm);
  }
}

// Activations go forward and their gradients back, over the chunk's two edges.
void add_pipeline(const CommInputs& in, Volumes& volumes) {
  for (const ChunkPlan& chunk : in.chunks) {
    for (const char* op : {"send", "recv"}) {
      const int64_t bytes = chunk.input_bytes + chunk.output_bytes;
      const int64_t edges = (chunk.input_bytes > 0 ? 1 : 0) + (chunk.output_bytes > 0 ? 1 : 0);
      volumes.add("pp", op, edges * in.num_microbatches, bytes * in.num_microbatches);
    }
  }
}

void add_data_parallel(const CommInputs& in, Volumes& volumes) {
  std::vector<bool> is_sharded(in.plan.buffers.size());
  for (const DpPlan::Place& place : in.plan.places) {
    const bool sharded = std::any_of(in.plan.shards.begin(), in.plan.shards.end(),
                                     [&](const DpPlan::Shard& s) { return s.param == place.param; });
    if (sharded) is_sharded[static_cast<size_t>(place.buffer)] = true;
  }
  for (const DpPlan::Bucket& bucket : in.plan.buckets) {
    const DpPlan::Buffer& buffer = in.plan.buffers[static_cast<size_t>(bucket.buffer)];
    const int64_t numel = bucket.end - bucket.begin;
    const std::string& group = buffer.shard_group;
    if (!is_sharded[static_cast<size_t>(bucket.buffer)]) {
      volumes.add(group, "all_reduce", 1, numel * buffer.grad.bits / 8);
      continue;
    }
    const auto ranks = static_cast<int64_t>(in.mesh.groups(group).front().size());
    volumes.add(group, "reduce_scatter", 1, numel * buffer.grad.bits / 8);
    volumes.add(group, "all_gather", 1, numel / ranks * buffer.param.bits / 8);
  }
}

// Partial gradients of replicated parameters as one tensor, each copy of a crossing tie as its own.
void add_finalization(const CommInputs& in, Volumes& volumes) {
  int64_t partial = 0;
  for (const OwnedRange& owned : owned_ranges(in.plan, in.table, in.dp_rank)) {
    const Param& param = in.table.params()[static_cast<size_t>(owned.param)];
    const int64_t bytes = (owned.end - owned.begin) * kFloat;
    const char *group = param.decl().grad_sum_group, *tie = param.decl().tie;
    if (group != nullptr && std::string_view(group) == "tp") partial += bytes;
    const auto& ties = in.crossing_ties;
    if (tie != nullptr && std::find(ties.begin(), ties.end(), tie) != ties.end()) {
      volumes.add("embd", "all_reduce", 1, bytes);
    }
  }
  volumes.add("tp", "all_reduce", 1, partial);
}

}  // namespace

std::vector<CommVolume> communication_of(const CommInputs& inputs) {
  Volumes volumes(inputs.mesh);
  add_model(inputs, volumes);
  add_pipeline(inputs, volumes);
  add_data_parallel(inputs, volumes);
  add_finalization(inputs, volumes);
  return volumes.take();
}

}  // namespace slipway
