// One microbatch in host memory: the fields a dataset gives, 64-byte aligned, reused from step to step. Filled by one
// thread; read by any once filled.
#pragma once

#include <slipway/model.h>

#include <deque>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/plugin_host/host_dataset.h"

namespace slipway {

class HostBatch {
 public:
  // Room for `batch_size` samples of `fields`; none: only ordinals are kept.
  HostBatch(const std::vector<FieldSpec>& fields, int64_t batch_size);
  HostBatch(const HostBatch&) = delete;
  HostBatch& operator=(const HostBatch&) = delete;

  // Reads the samples `indices` (batch_size of them) and remembers their ordinals.
  void load(const HostDataset& dataset, const std::vector<int64_t>& indices, std::vector<int64_t> ordinals);

  // As the model gets it. The view lives as long as the batch.
  const slw_batch* view() const { return &view_; }
  const slw_tensor* field(const std::string& name) const;
  const std::vector<int64_t>& sample_ids() const { return ordinals_; }
  int64_t batch_size() const { return batch_size_; }
  int64_t bytes() const;  // of the fields

 private:
  struct Field {
    std::string name;
    AlignedBuffer memory;
    std::vector<int64_t> shape, strides;
    slw_tensor tensor;
  };
  int64_t batch_size_;
  std::deque<Field> fields_;
  std::vector<slw_tensor*> tensors_;
  std::vector<int64_t> ordinals_;
  slw_batch view_;
};

}  // namespace slipway
