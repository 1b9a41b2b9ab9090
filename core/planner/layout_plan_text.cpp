#include <algorithm>
#include <cstdio>

#include "core/base/strings.h"
#include "core/planner/layout_plan.h"

namespace slipway {
namespace {

// Columns as wide as their widest cell; the first is aligned to the left, the others to the right.
std::string table_text(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    text += ' ';
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string pad(widths[c] - row[c].size(), ' ');
      text += " " + (c == 0 ? row[c] + pad : pad + row[c]) + (c + 1 < row.size() ? " " : "");
    }
    text += '\n';
  }
  return text;
}

std::string count(int64_t n) { return human_count(static_cast<uint64_t>(n)); }
std::string bytes(int64_t n) { return human_bytes(static_cast<uint64_t>(n)); }

std::string decimals(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string heading(const LayoutPlan& plan) {
  const MeshSizes& s = plan.mesh.sizes();
  const TrainConfig& train = plan.config.train;
  std::string text = "layout: " + std::to_string(s.world) + " ranks = tensor " + std::to_string(s.tp) +
                     (plan.config.parallel.sequence_parallel ? " (sequence parallel)" : "") + " x pipeline " +
                     std::to_string(s.pp);
  if (plan.whole.chunks_per_rank > 1) text += " (" + std::to_string(plan.whole.chunks_per_rank) + " chunks each)";
  text += " x context " + std::to_string(s.cp) + " x data " + std::to_string(plan.mesh.dp()) + " (" +
          plan.data_parallel + "), order " + s.order + "\n";
  text += "model:  " + plan.model + ", " + count(plan.parameters) + " parameters\n";
  text += "step:   global batch " + std::to_string(*train.global_batch_size) + " = " +
          std::to_string(plan.num_microbatches) + " microbatches x micro batch " +
          std::to_string(train.micro_batch_size) + " x data parallel " + std::to_string(plan.mesh.dp()) + "; " +
          count(*train.global_batch_size * train.seq_length) + " tokens\n";
  if (plan.flops > 0) text += "        " + decimals(plan.flops, "%.3g") + " FLOPs forward and backward\n";
  return text + "        bubble " + decimals(100 * plan.bubble, "%.1f") + " % of computing\n";
}

std::string stages_text(const LayoutPlan& plan) {
  std::vector<std::vector<std::string>> rows{
      {"stage", "rank", "chunk", "layers", "", "parameters", "per rank", "FLOPs per microbatch"}};
  for (int v = 0; v < plan.whole.num_stages(); ++v) {
    const int rank = v % plan.whole.pp, chunk = v / plan.whole.pp;
    const ChunkPlan& c = plan.ranks[static_cast<size_t>(rank)].chunks[static_cast<size_t>(chunk)];
    const bool has_layers = c.stage.layer_end > c.stage.layer_begin;
    rows.push_back(
        {std::to_string(v), std::to_string(rank), std::to_string(chunk),
         has_layers ? std::to_string(c.stage.layer_begin) + "-" + std::to_string(c.stage.layer_end - 1) : "-",
         std::string(c.stage.pre_process != 0 ? "embedding" : "") +
             (c.stage.pre_process != 0 && c.stage.post_process != 0 ? ", " : "") +
             (c.stage.post_process != 0 ? "head" : ""),
         count(c.parameters), count(c.local_parameters),
         c.cost ? decimals(c.cost->flops_forward + c.cost->flops_backward, "%.3g") : "unknown"});
  }
  return "stages\n" + table_text(rows);
}

std::string memory_text(const LayoutPlan& plan) {
  std::vector<std::vector<std::string>> rows{
      {"pipeline rank", "parameters", "gradients", "optimizer", "data", "activations", "total", "microbatches alive"}};
  for (const RankPlan& rank : plan.ranks) {
    const MemoryPlan& m = rank.memory;
    rows.push_back({std::to_string(rank.pp_rank), bytes(m.parameters), bytes(m.gradients), bytes(m.optimizer),
                    bytes(m.data), bytes(m.activations), bytes(m.total()), std::to_string(rank.max_live)});
  }
  return "memory per rank\n" + table_text(rows);
}

std::string buckets_text(const LayoutPlan& plan) {
  std::vector<std::vector<std::string>> rows{{"pipeline rank", "buffers", "buckets", "largest", "smallest"}};
  for (const RankPlan& rank : plan.ranks) {
    int64_t largest = 0, smallest = INT64_MAX;
    for (const DpPlan::Bucket& bucket : rank.buckets.buckets) {
      largest = std::max(largest, bucket.end - bucket.begin);
      smallest = std::min(smallest, bucket.end - bucket.begin);
    }
    if (rank.buckets.buckets.empty()) smallest = 0;
    rows.push_back({std::to_string(rank.pp_rank), std::to_string(rank.buckets.buffers.size()),
                    std::to_string(rank.buckets.buckets.size()), count(largest), count(smallest)});
  }
  return "gradient buckets (elements)\n" + table_text(rows);
}

std::string communication_text(const LayoutPlan& plan) {
  std::vector<std::vector<std::string>> rows{{"pipeline rank", "group", "operation", "calls", "bytes handed in"}};
  for (const RankPlan& rank : plan.ranks) {
    for (const CommVolume& v : rank.communication) {
      rows.push_back({std::to_string(rank.pp_rank), v.group, v.op, std::to_string(v.calls), bytes(v.bytes)});
    }
  }
  if (rows.size() == 1) return "";
  return "communication per rank and step\n" + table_text(rows);
}

std::string groups_text(const LayoutPlan& plan) {
  std::vector<std::vector<std::string>> rows{{"groups", "number", "ranks each", "first"}};
  for (const auto& [name, groups] : plan.mesh.all_groups()) {
    std::string first;
    constexpr size_t kShown = 8;
    for (size_t i = 0; i < std::min(kShown, groups.front().size()); ++i) {
      first += (i == 0 ? "" : ", ") + std::to_string(groups.front()[i]);
    }
    if (groups.front().size() > kShown) first += ", ...";
    rows.push_back({name, std::to_string(groups.size()), std::to_string(groups.front().size()), first});
  }
  return table_text(rows);
}

}  // namespace

std::string layout_plan_text(const LayoutPlan& plan) {
  std::string text = heading(plan) + "\n" + stages_text(plan) + "\n" + memory_text(plan) + "\n" + buckets_text(plan);
  if (const std::string communication = communication_text(plan); !communication.empty()) text += "\n" + communication;
  if (!plan.picture.empty()) {
    text += "\npipeline: a digit begins a microbatch, - is forward, = backward, . standing still\n" + plan.picture;
  }
  text += "\n" + groups_text(plan) + "\n";
  if (plan.exceptions.empty()) return text + "numbers do not depend on the layout, but for the order of sums\n";
  text += "numbers depend on the layout:\n";
  for (const std::string& exception : plan.exceptions) text += "  " + exception + "\n";
  return text;
}

}  // namespace slipway
