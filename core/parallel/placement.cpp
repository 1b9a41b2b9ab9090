#include "core/parallel/placement.h"

#include <algorithm>

#include "core/base/error.h"

namespace slipway {
namespace {

constexpr int64_t kAlignment = 16;  // elements

struct Span {
  int32_t buffer;
  int64_t begin, end;
  const Param* param;
};

void check_places(const DpPlan& plan, const ParamTable& table) {
  const auto& params = table.params();
  std::vector<int> times(params.size(), 0);
  std::vector<Span> spans;
  for (const DpPlan::Place& place : plan.places) {
    if (place.param < 0 || static_cast<size_t>(place.param) >= params.size()) {
      throw PluginError("the data-parallel plan places parameter " + std::to_string(place.param) +
                        ", which is unknown");
    }
    const Param& param = params[static_cast<size_t>(place.param)];
    const auto refuse = [&](const char* why) {
      throw PluginError("the data-parallel plan places " + param.name() + " " + why);
    };
    times[static_cast<size_t>(place.param)]++;
    if (place.buffer < 0 || static_cast<size_t>(place.buffer) >= plan.buffers.size()) refuse("in an unknown buffer");
    const int64_t numel = plan.buffers[static_cast<size_t>(place.buffer)].numel;
    if (place.offset < 0 || place.offset % kAlignment != 0) refuse("at an offset that is no multiple of 16");
    if (param.local_numel > numel || place.offset > numel - param.local_numel) refuse("outside its buffer");
    spans.push_back({place.buffer, place.offset, place.offset + param.local_numel, &param});
  }
  for (const Param& param : params) {
    const int wanted = param.declaration->is_trained() ? 1 : 0;
    if (times[static_cast<size_t>(param.index)] != wanted) {
      throw PluginError("the data-parallel plan places " + param.name() + " " +
                        std::to_string(times[static_cast<size_t>(param.index)]) + " times");
    }
  }
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.buffer != b.buffer ? a.buffer < b.buffer : a.begin < b.begin;
  });
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].buffer == spans[i - 1].buffer && spans[i].begin < spans[i - 1].end) {
      throw PluginError("the data-parallel plan lets " + spans[i].param->name() + " overlap " +
                        spans[i - 1].param->name());
    }
  }
}

void check_shards(const DpPlan& plan, const ParamTable& table) {
  for (const DpPlan::Shard& shard : plan.shards) {
    const auto& params = table.params();
    const bool known = shard.param >= 0 && static_cast<size_t>(shard.param) < params.size();
    if (!known || shard.begin < 0 || shard.end < shard.begin ||
        shard.end > params[static_cast<size_t>(shard.param)].local_numel) {
      throw PluginError("the data-parallel plan has a shard outside its parameter");
    }
  }
}

void check_buffers(const DpPlan& plan) {
  constexpr uint32_t kSharded = SLW_BUFFER_PARAM_SHARDED | SLW_BUFFER_GRAD_SHARDED;
  for (const DpPlan::Buffer& buffer : plan.buffers) {
    const bool fp32 = buffer.param.code == SLW_CODE_FLOAT && buffer.param.bits == 32 &&
                      buffer.grad.code == SLW_CODE_FLOAT && buffer.grad.bits == 32;
    if (!fp32) throw PluginError("the data-parallel plan has a buffer that is not fp32");
    if ((buffer.flags & kSharded) != 0) {
      throw PluginError("the data-parallel backend wants sharded buffers, which this version does not offer");
    }
  }
}

}  // namespace

DpPlan make_plan(const HostDp& dp, const ParamTable& table) {
  std::vector<slw_dp_param> entries;
  const auto& params = table.params();
  for (const Param& param : params) {
    if (!param.declaration->is_trained()) continue;
    slw_dp_param entry{};
    entry.struct_size = SLW_SIZE_TO(slw_dp_param, group);
    entry.index = param.index;
    entry.chunk = param.uses.front().chunk;
    entry.unit = -1;
    entry.decl = &param.decl();
    entry.local_numel = param.local_numel;
    entry.group = param.declaration->has(SLW_PARAM_EXPERT) ? "edp" : "dp_cp";
    entries.push_back(entry);
  }
  std::vector<const slw_dp_param*> pointers;
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].backward_order = static_cast<int32_t>(entries.size() - 1 - i);
    pointers.push_back(&entries[i]);
  }
  DpPlan plan = dp.plan(pointers);
  check_buffers(plan);
  check_places(plan, table);
  check_shards(plan, table);
  return plan;
}

std::vector<OwnedRange> owned_ranges(const DpPlan& plan, const ParamTable& table, int dp_rank) {
  std::vector<OwnedRange> ranges;
  for (const Param& param : table.params()) {
    if (!param.declaration->is_trained()) continue;
    bool sharded = false;
    for (const DpPlan::Shard& shard : plan.shards) {
      if (shard.param != param.index) continue;
      sharded = true;
      if (shard.owner == dp_rank && shard.end > shard.begin)
        ranges.push_back({param.index, shard.begin, shard.end, true});
    }
    if (!sharded) ranges.push_back({param.index, 0, param.local_numel, false});
  }
  return ranges;
}

}  // namespace slipway
