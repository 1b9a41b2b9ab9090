#include "core/data/step_reader.h"

#include "core/base/error.h"

namespace slipway {

StepReader::StepReader(const HostDataset& dataset, const SamplerGrid& grid)
    : dataset_(dataset), grid_(grid), fields_(dataset.fields()), size_(dataset.info().size) {}

const std::vector<const HostBatch*>& StepReader::read(int64_t consumed, int64_t num_microbatches) {
  const int64_t end = consumed + num_microbatches * grid_.dp_size * grid_.micro_batch;
  require_samples(end, "the next step");
  while (static_cast<int64_t>(batches_.size()) < num_microbatches) batches_.emplace_back(fields_, grid_.micro_batch);
  current_.clear();
  for (int64_t m = 0; m < num_microbatches; ++m) {
    HostBatch& batch = batches_[static_cast<size_t>(m)];
    const std::vector<int64_t> ordinals = microbatch_ordinals(grid_, consumed, m);
    batch.load(dataset_, ordinals, ordinals);
    current_.push_back(&batch);
  }
  return current_;
}

void StepReader::require_samples(int64_t wanted, const std::string& what_for) const {
  if (wanted <= size_) return;
  throw DataError("the dataset has " + std::to_string(size_) + " samples, " + what_for + " needs " +
                  std::to_string(wanted) +
                  "; give more data, allow more epochs (data.epochs, where the dataset has it), or lower train_iters");
}

}  // namespace slipway
