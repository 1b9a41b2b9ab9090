#include "core/pretrain/stored_tensors.h"

#include <algorithm>

#include "core/params/tensor_view.h"

namespace slipway {
namespace {

// The elements of a local tensor that a block covers, as far as they are not padding.
struct LogicalBlock {
  Shape offset, shape;  // global
  int64_t begin;        // element of the local tensor
  bool is_dense;        // one run of elements
};

std::vector<LogicalBlock> logical_blocks(const Param& param) {
  const Shape& logical = param.declaration->global_shape();
  const Shape strides = contiguous_strides(param.local.shape);
  std::vector<LogicalBlock> blocks;
  for (const LocalBlock& block : param.local.blocks) {
    LogicalBlock result{block.global_offset, block.shape, 0, true};
    bool is_empty = false;
    for (size_t d = 0; d < logical.size(); ++d) {
      result.shape[d] = std::min(block.shape[d], logical[d] - block.global_offset[d]);
      result.begin += block.local_offset[d] * strides[d];
      is_empty = is_empty || result.shape[d] <= 0;
      if (d > 0 && result.shape[d] != param.local.shape[d]) result.is_dense = false;
    }
    if (!is_empty) blocks.push_back(std::move(result));
  }
  return blocks;
}

// Where a parameter is the same elsewhere.
StoredTensor labelled(const Training& training, const Param& param, std::string name) {
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = param.declaration->global_shape();
  tensor.is_tp_replicated = !param.is_cut;
  tensor.is_copy = param.is_shared_copy;
  const auto& shards = training.plan.shards;
  tensor.is_dp_replicated =
      std::none_of(shards.begin(), shards.end(), [&](const DpPlan::Shard& s) { return s.param == param.index; });
  return tensor;
}

// Elements [begin, begin + values.size()) of a local tensor, which lie at `values`.
struct LocalRange {
  int64_t begin;
  std::span<float> values;
};

void add_parts(const Training& training, const Param& param, const std::string& name, const LocalRange& range,
               std::vector<StoredTensor>& out) {
  const auto& [begin, values] = range;
  const int64_t end = begin + static_cast<int64_t>(values.size());
  for (const LogicalBlock& block : logical_blocks(param)) {
    StoredTensor tensor = labelled(training, param, name);
    const Cut slice = slice_cut(block.offset, block.shape);
    if (block.is_dense) {
      const int64_t first = std::max(begin, block.begin);
      const int64_t last = std::min(end, block.begin + element_count(block.shape));
      if (first >= last) continue;
      tensor.cut = flat_cut(slice, first - block.begin, last - block.begin);
      tensor.values = values.subspan(static_cast<size_t>(first - begin), static_cast<size_t>(last - first));
    } else {
      if (begin != 0 || end != param.local_numel) {
        throw PluginError("parameter " + param.name() + " of shape " + shape_text(param.local.shape) +
                          " is cut or padded behind its first dimension; a data-parallel backend cannot shard it");
      }
      tensor.is_packed = false;
      tensor.cut = slice;
      tensor.strides = contiguous_strides(param.local.shape);
      tensor.values = values.subspan(static_cast<size_t>(block.begin));
    }
    out.push_back(std::move(tensor));
  }
}

// One value for the whole parameter: stored by whoever owns its beginning.
void add_scalar(const Training& training, const Updates::State& state, const std::string& name,
                std::vector<StoredTensor>& out) {
  StoredTensor tensor = labelled(training, *state.param, name);
  tensor.shape = {};
  tensor.cut = whole_cut({});
  tensor.values = state.values;
  tensor.is_tp_replicated = true;
  tensor.is_copy = tensor.is_copy || state.begin != 0;
  out.push_back(std::move(tensor));
}

std::string state_name(const std::string& slot, const Param& param) { return "optimizer." + slot + "." + param.name(); }

// Calls visit(element in memory, element of the packed slice, length) for every row.
template <class Visit>
void for_each_row(const StoredTensor& tensor, Visit&& visit) {
  const Shape& shape = tensor.cut.shape;
  const size_t dims = shape.size();
  const int64_t row = shape[dims - 1], rows = element_count(shape) / row;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, from = 0;
    for (size_t d = dims - 1; d-- > 0;) {
      from += rest % shape[d] * tensor.strides[d];
      rest /= shape[d];
    }
    visit(from, r * row, row);
  }
}

}  // namespace

std::vector<StoredTensor> stored_parameters(const Training& training) {
  std::vector<StoredTensor> tensors;
  for (const OwnedRange& owned : training.owned) {
    const Param& param = training.table.params()[static_cast<size_t>(owned.param)];
    float* values = training.store->data(owned.param) + owned.begin;
    add_parts(training, param, param.name(), {owned.begin, {values, static_cast<size_t>(owned.end - owned.begin)}},
              tensors);
  }
  for (const Param& param : training.table.params()) {
    if (param.declaration->is_trained()) continue;
    float* values = training.store->data(param.index);
    add_parts(training, param, param.name(), {0, {values, static_cast<size_t>(param.local_numel)}}, tensors);
  }
  return tensors;
}

std::vector<StoredTensor> stored_tensors(const Training& training) {
  std::vector<StoredTensor> tensors = stored_parameters(training);
  for (const Updates::State& state : training.updates->states()) {
    const std::string name = state_name(state.slot, *state.param);
    if (state.is_scalar) {
      add_scalar(training, state, name, tensors);
    } else {
      add_parts(training, *state.param, name, {state.begin, state.values}, tensors);
    }
  }
  return tensors;
}

std::vector<TensorInfo> whole_parameters(const Training& training) {
  std::vector<TensorInfo> tensors;
  for (const Param& param : training.whole.table.params()) {
    tensors.push_back({param.name(), DType::kF32, param.declaration->global_shape()});
  }
  return tensors;
}

std::vector<TensorInfo> whole_tensors(const Training& training) {
  std::vector<TensorInfo> tensors = whole_parameters(training);
  for (const Param& param : training.whole.table.params()) {
    if (!param.declaration->is_trained()) continue;
    for (const StateSlot& slot : training.updates->slots_of(param)) {
      const bool is_scalar = slot.extent == SLW_STATE_SCALAR;
      tensors.push_back(
          {state_name(slot.name, param), DType::kF32, is_scalar ? Shape{} : param.declaration->global_shape()});
    }
  }
  return tensors;
}

std::vector<float> pack(const StoredTensor& tensor) {
  std::vector<float> packed(static_cast<size_t>(element_count(tensor.cut.shape)));
  for_each_row(tensor, [&](int64_t from, int64_t to, int64_t n) {
    std::copy_n(tensor.values.data() + from, n, packed.data() + to);
  });
  return packed;
}

void unpack(const std::vector<float>& packed, const StoredTensor& tensor) {
  for_each_row(tensor, [&](int64_t to, int64_t from, int64_t n) {
    std::copy_n(packed.data() + from, n, tensor.values.data() + to);
  });
}

}  // namespace slipway
