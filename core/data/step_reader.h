// Reads the local microbatches of a step from a dataset. The position is the count of samples consumed and nothing
// else, so a resume, or another number of ranks, only needs that number. One driver thread.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "core/data/host_batch.h"
#include "core/data/sampler.h"
#include "core/plugin_host/host_dataset.h"

namespace slipway {

class StepReader {
 public:
  // `dataset` is built and outlives the reader.
  StepReader(const HostDataset& dataset, const SamplerGrid& grid);

  // The `num_microbatches` microbatches of the step after `consumed` samples. They stay valid until the next call.
  // Throws DataError at the end of the dataset.
  const std::vector<const HostBatch*>& read(int64_t consumed, int64_t num_microbatches);

  // Throws DataError, with the numbers, unless the dataset has `wanted` samples.
  void require_samples(int64_t wanted, const std::string& what_for) const;

 private:
  const HostDataset& dataset_;
  SamplerGrid grid_;
  std::vector<FieldSpec> fields_;
  int64_t size_;
  std::deque<HostBatch> batches_;
  std::vector<const HostBatch*> current_;
};

}  // namespace slipway
