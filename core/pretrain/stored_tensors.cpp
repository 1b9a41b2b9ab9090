#include "core/pretrain/stored_tensors.h"

#include <algorithm>

namespace slipway {
namespace {

// Padding behind dimension 0 moves elements: such a tensor is packed before it is written.
bool moves_elements(const ParamDeclaration& param) {
  for (size_t d = 1; d < param.global_shape().size(); ++d) {
    if (param.global_shape()[d] != param.padded_shape()[d]) return true;
  }
  return false;
}

// Elements [begin, end) of the padded tensor, which lie at `values`.
StoredTensor part_of(const Param& param, std::string name, int64_t begin, std::span<float> values) {
  const ParamDeclaration& declared = *param.declaration;
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = declared.global_shape();
  tensor.padded_shape = declared.padded_shape();
  tensor.is_packed = !moves_elements(declared);
  const int64_t logical = element_count(tensor.shape);
  const int64_t end = begin + static_cast<int64_t>(values.size());
  if (!tensor.is_packed) {
    if (begin != 0 || end != param.local_numel) {
      throw PluginError("parameter " + param.name() +
                        " is padded behind its first dimension; a data-parallel backend cannot shard it");
    }
    tensor.cut = whole_cut(tensor.shape);
    tensor.values = values;
    return tensor;
  }
  const int64_t first = std::min(begin, logical), last = std::min(end, logical);
  const bool is_whole = first == 0 && last == logical;
  tensor.cut = is_whole ? whole_cut(tensor.shape) : flat_cut(whole_cut(tensor.shape), first, last);
  tensor.values = values.first(static_cast<size_t>(last - first));
  return tensor;
}

StoredTensor scalar_state(std::string name, std::span<float> values) {
  StoredTensor tensor;
  tensor.name = std::move(name);
  tensor.cut = whole_cut({});
  tensor.values = values;
  return tensor;
}

// Calls visit(element of the padded tensor, element of the packed one, length) for every row.
template <class Visit>
void for_each_row(const StoredTensor& tensor, Visit&& visit) {
  const size_t dims = tensor.shape.size();
  const int64_t row = tensor.shape[dims - 1];
  const int64_t rows = element_count(tensor.shape) / row;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t rest = r, stride = tensor.padded_shape[dims - 1], from = 0;
    for (size_t d = dims - 1; d-- > 0;) {
      from += rest % tensor.shape[d] * stride;
      rest /= tensor.shape[d];
      stride *= tensor.padded_shape[d];
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
    tensors.push_back(
        part_of(param, param.name(), owned.begin, {values, static_cast<size_t>(owned.end - owned.begin)}));
  }
  for (const Param& param : training.table.params()) {
    if (param.declaration->is_trained()) continue;
    float* values = training.store->data(param.index);
    tensors.push_back(part_of(param, param.name(), 0, {values, static_cast<size_t>(param.local_numel)}));
  }
  for (StoredTensor& tensor : tensors) tensor.is_replicated = training.plan.shards.empty();
  return tensors;
}

std::vector<StoredTensor> stored_tensors(const Training& training) {
  std::vector<StoredTensor> tensors = stored_parameters(training);
  for (const Updates::State& state : training.updates->states()) {
    const std::string name = "optimizer." + state.slot + "." + state.param->name();
    tensors.push_back(state.is_scalar ? scalar_state(name, state.values)
                                      : part_of(*state.param, name, state.begin, state.values));
  }
  for (StoredTensor& tensor : tensors) tensor.is_replicated = training.plan.shards.empty();
  return tensors;
}

std::vector<float> pack(const StoredTensor& tensor) {
  std::vector<float> packed(static_cast<size_t>(element_count(tensor.shape)));
  for_each_row(tensor, [&](int64_t from, int64_t to, int64_t n) {
    std::copy_n(tensor.values.data() + from, n, packed.data() + to);
  });
  return packed;
}

void unpack(const std::vector<float>& packed, const StoredTensor& tensor) {
  std::fill(tensor.values.begin(), tensor.values.end(), 0.0f);
  for_each_row(tensor, [&](int64_t to, int64_t from, int64_t n) {
    std::copy_n(packed.data() + from, n, tensor.values.data() + to);
  });
}

}  // namespace slipway
