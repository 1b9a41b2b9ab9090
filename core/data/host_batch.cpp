#include "core/data/host_batch.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/params/tensor_view.h"

namespace slipway {

HostBatch::HostBatch(const std::vector<FieldSpec>& fields, int64_t batch_size) : batch_size_(batch_size), view_{} {
  for (const FieldSpec& spec : fields) {
    if (spec.whole_batch) {
      throw DataError("field '" + spec.name + "' has no batch dimension, which this version does not offer");
    }
    Field& field = fields_.emplace_back();
    field.name = spec.name;
    field.shape.push_back(batch_size);
    field.shape.insert(field.shape.end(), spec.shape.begin(), spec.shape.end());
    field.strides = contiguous_strides(field.shape);
    const int64_t numel = field.strides[0] * field.shape[0];
    field.memory = AlignedBuffer(static_cast<size_t>(numel) * spec.dtype.bits / 8 * spec.dtype.lanes);
    field.tensor = {field.memory.data(),
                    {SLW_DEVICE_CPU, 0},
                    static_cast<int32_t>(field.shape.size()),
                    spec.dtype,
                    field.shape.data(),
                    field.strides.data(),
                    0};
    tensors_.push_back(&field.tensor);
  }
  view_.struct_size = SLW_SIZE_TO(slw_batch, get);
  view_.impl = this;
  view_.get = [](const slw_batch* batch, const char* name) -> const slw_tensor* {
    return name == nullptr ? nullptr : static_cast<const HostBatch*>(batch->impl)->field(name);
  };
}

void HostBatch::load(const HostDataset& dataset, const std::vector<int64_t>& indices, std::vector<int64_t> ordinals) {
  SLW_CHECK(static_cast<int64_t>(indices.size()) == batch_size_ && indices.size() == ordinals.size());
  if (!tensors_.empty()) dataset.get(indices, tensors_);
  ordinals_ = std::move(ordinals);
}

int64_t HostBatch::bytes() const {
  int64_t total = 0;
  for (const Field& field : fields_) total += static_cast<int64_t>(field.memory.bytes());
  return total;
}

const slw_tensor* HostBatch::field(const std::string& name) const {
  const auto found = std::find_if(fields_.begin(), fields_.end(), [&](const Field& f) { return f.name == name; });
  return found == fields_.end() ? nullptr : &found->tensor;
}

}  // namespace slipway
