#include "core/optim/updates.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/params/tensor_view.h"

namespace slipway {
namespace {

double or_one(double multiplier) { return multiplier == 0.0 ? 1.0 : multiplier; }

}  // namespace

GroupSchedule group_of(const slw_param_decl& decl) {
  GroupSchedule group;
  group.lr_mult = or_one(decl.lr_mult);
  const bool decays = decl.ndim > 1 && (decl.flags & SLW_PARAM_NO_WEIGHT_DECAY) == 0;
  group.wd_mult = decays ? or_one(decl.wd_mult) : 0.0;
  return group;
}

Updates::Updates(std::vector<std::unique_ptr<HostOptimizer>> chain, const std::vector<UpdateRange>& ranges)
    : chain_(std::move(chain)), shards_(chain_.size()) {
  for (const UpdateRange& range : ranges) add(range);
  for (const Item& item : items_) shards_[item.optimizer].push_back(&item.shard);
}

size_t Updates::optimizer_of(const Param& param) const {
  const auto owner = std::find_if(chain_.begin(), chain_.end(), [&](const auto& o) { return o->claims(param.decl()); });
  if (owner == chain_.end()) {
    throw ConfigError("optimizer " + chain_.front()->name() + " leaves parameter " + param.name() +
                      " to another one; name it: optimizer.fallback, e.g. {\"use\": \"adam\"}");
  }
  return static_cast<size_t>(owner - chain_.begin());
}

std::vector<StateSlot> Updates::slots_of(const Param& param) const {
  return chain_[optimizer_of(param)]->declare(param.decl()).slots;
}

void Updates::add(const UpdateRange& range) {
  const slw_param_decl& decl = range.param->decl();
  const size_t owner = optimizer_of(*range.param);
  const OptimizerNeeds needs = chain_[owner]->declare(decl);
  if ((needs.layouts & SLW_LAYOUT_FLAT) == 0) {
    throw PluginError("optimizer " + chain_[owner]->name() + " does not take flat slices of " + range.param->name() +
                      ", the only layout of this version");
  }
  Item& item = items_.emplace_back();
  item.optimizer = owner;
  item.group = group_of(decl);
  item.numel = range.end - range.begin;
  for (const StateSlot& slot : needs.slots) add_state(item, range, slot);
  for (slw_tensor& tensor : item.state_tensors) item.state_pointers.push_back(&tensor);
  const auto flat = [&](float* data) { return slw_tensor{data, kCpu, 1, kFloat32, &item.numel, &item.stride, 0}; };
  item.shard = {};
  item.shard.struct_size = SLW_SIZE_TO(slw_shard, step);
  item.shard.param_index = range.param->index;
  item.shard.decl = &decl;
  item.shard.master = flat(range.master);
  item.shard.grad = flat(range.grad);
  item.shard.flat_offset = range.begin;
  item.shard.num_states = static_cast<uint32_t>(item.state_pointers.size());
  item.shard.states = item.state_pointers.data();
}

void Updates::add_state(Item& item, const UpdateRange& range, const StateSlot& slot) {
  const bool is_scalar = slot.extent == SLW_STATE_SCALAR;
  const auto numel = static_cast<size_t>(is_scalar ? 1 : item.numel);
  AlignedBuffer& memory = memory_.emplace_back(numel * sizeof(float));
  const std::span<float> values = memory.as<float>();
  if (slot.fill != 0.0) std::fill(values.begin(), values.end(), static_cast<float>(slot.fill));
  item.state_tensors.push_back(
      {values.data(), kCpu, 1, kFloat32, is_scalar ? &item.scalar : &item.numel, &item.stride, 0});
  states_.push_back({range.param, slot.name, is_scalar, range.begin, range.end, values});
}

void Updates::step(const ScheduleConfig& schedule, int64_t num_samples, int64_t update, double grad_scale) {
  for (Item& item : items_) {
    item.shard.lr = learning_rate(schedule, num_samples, item.group);
    item.shard.weight_decay = weight_decay(schedule, num_samples, item.group);
    item.shard.step = update;
  }
  for (size_t o = 0; o < chain_.size(); ++o) {
    if (!shards_[o].empty()) chain_[o]->step(shards_[o], grad_scale);
  }
}

int64_t Updates::state_bytes() const {
  int64_t total = 0;
  for (const AlignedBuffer& buffer : memory_) total += static_cast<int64_t>(buffer.bytes());
  return total;
}

}  // namespace slipway
