#include "core/parallel/param_store.h"

#include <algorithm>
#include <cstring>

namespace slipway {
namespace {

constexpr int64_t kAlignment = 16;  // elements: 64 bytes of fp32

}  // namespace

void ParamStore::add_buffer(int64_t numel, bool with_grad) {
  Buffer& buffer = buffers_.emplace_back();
  const size_t bytes = static_cast<size_t>(numel) * sizeof(float);
  buffer.numel = numel;
  buffer.param = AlignedBuffer(bytes);
  if (with_grad) buffer.grad = AlignedBuffer(bytes);
  const auto tensor = [&](void* data) { return slw_tensor{data, kCpu, 1, kFloat32, &buffer.numel, &stride_one_, 0}; };
  buffer.view = {SLW_SIZE_TO(slw_buffer, grad), static_cast<int32_t>(buffers_.size() - 1), tensor(buffer.param.data()),
                 tensor(buffer.grad.data())};
}

ParamStore::ParamStore(const ParamTable& table, const DpPlan& plan)
    : table_(table), data_(table.params().size(), nullptr), grad_(table.params().size(), nullptr) {
  for (const DpPlan::Buffer& planned : plan.buffers) add_buffer(planned.numel, true);
  num_planned_ = buffers_.size();
  for (const DpPlan::Place& place : plan.places) {
    const Buffer& buffer = buffers_[static_cast<size_t>(place.buffer)];
    data_[static_cast<size_t>(place.param)] = static_cast<float*>(buffer.param.data()) + place.offset;
    grad_[static_cast<size_t>(place.param)] = static_cast<float*>(buffer.grad.data()) + place.offset;
  }
  int64_t untrained = 0;
  std::vector<std::pair<int32_t, int64_t>> places;
  for (const Param& param : table.params()) {
    if (param.declaration->is_trained()) continue;
    places.emplace_back(param.index, untrained);
    untrained += (param.local_numel + kAlignment - 1) / kAlignment * kAlignment;
  }
  if (places.empty()) return;
  add_buffer(untrained, false);
  for (const auto& [param, offset] : places) {
    data_[static_cast<size_t>(param)] = static_cast<float*>(buffers_.back().param.data()) + offset;
  }
}

void ParamStore::zero_grads() {
  for (Buffer& buffer : buffers_) {
    if (buffer.grad.data() == nullptr) continue;
    constexpr int64_t kBlock = 1 << 18;
    float* grad = static_cast<float*>(buffer.grad.data());
#pragma omp parallel for schedule(static) if (buffer.numel > 4 * kBlock)
    for (int64_t begin = 0; begin < buffer.numel; begin += kBlock) {
      std::memset(grad + begin, 0, static_cast<size_t>(std::min(kBlock, buffer.numel - begin)) * sizeof(float));
    }
  }
}

std::vector<const slw_buffer*> ParamStore::dp_buffers() const {
  std::vector<const slw_buffer*> pointers;
  for (size_t i = 0; i < num_planned_; ++i) pointers.push_back(&buffers_[i].view);
  return pointers;
}

std::vector<const slw_param_view*> ParamStore::views(int32_t chunk) {
  std::vector<const slw_param_view*> pointers;
  for (int32_t index = 0; index < table_.num_uses(chunk); ++index) {
    const Param& param = table_.by_use(chunk, index);
    View& view = views_.emplace_back();
    view.shape = param.local.shape;
    view.strides = contiguous_strides(view.shape);
    const auto tensor = [&](void* data) {
      return slw_tensor{
          data, kCpu, static_cast<int32_t>(view.shape.size()), kFloat32, view.shape.data(), view.strides.data(), 0};
    };
    view.view = {SLW_SIZE_TO(slw_param_view, grad), index, tensor(data(param.index)), tensor(grad(param.index))};
    pointers.push_back(&view.view);
  }
  return pointers;
}

int64_t ParamStore::param_bytes() const {
  int64_t total = 0;
  for (const Buffer& buffer : buffers_) total += static_cast<int64_t>(buffer.param.bytes());
  return total;
}

int64_t ParamStore::grad_bytes() const {
  int64_t total = 0;
  for (const Buffer& buffer : buffers_) total += static_cast<int64_t>(buffer.grad.bytes());
  return total;
}

}  // namespace slipway
