// Reads the local microbatches of a step from a dataset, and those of the next step beside it. The position is the
// count of samples consumed and nothing else, so a resume, or another number of ranks, only needs that number; threads
// change no byte. One driver thread.
#pragma once

#include <array>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "core/data/host_batch.h"
#include "core/data/sampler.h"
#include "core/plugin_host/host_dataset.h"

namespace slipway {

// What one step reads: so many microbatches on every rank, after `consumed` samples.
struct StepRange {
  int64_t consumed = 0, num_microbatches = 0;

  bool operator==(const StepRange&) const = default;
};

// What a rank needs of its microbatches: a pipeline stage that asks for no field reads no data.
enum class BatchUse { kFields, kOrdinals };

class StepReader {
 public:
  // `dataset` is built and outlives the reader. `num_workers` threads read ahead, at most one when the dataset is not
  // thread-safe; 0: nothing is read ahead.
  StepReader(const HostDataset& dataset, const SamplerGrid& grid, int64_t num_workers,
             BatchUse use = BatchUse::kFields);
  ~StepReader();
  StepReader(const StepReader&) = delete;
  StepReader& operator=(const StepReader&) = delete;

  // The microbatches of `step`, valid until the next call, while `next` begins to be read. Throws DataError at the end
  // of the dataset, and what the dataset threw.
  const std::vector<const HostBatch*>& read(const StepRange& step, const std::optional<StepRange>& next = {});

  // Throws DataError, with the numbers, unless the dataset has `wanted` samples.
  void require_samples(int64_t wanted, const std::string& what_for) const;
  // Memory of the batches that are kept.
  int64_t bytes() const;
  // Samples of one step over all ranks.
  int64_t samples_of(const StepRange& step) const;

 private:
  struct Workers;
  // The memory of one step; two of them take turns.
  struct Buffer {
    std::optional<StepRange> range;
    std::deque<HostBatch> batches;
    std::vector<std::future<void>> reading;
  };
  void start(Buffer& buffer, const StepRange& step);
  void finish(Buffer& buffer);

  const HostDataset& dataset_;
  SamplerGrid grid_;
  std::vector<FieldSpec> fields_;
  int64_t size_;
  std::array<Buffer, 2> buffers_;
  size_t next_buffer_ = 0;
  std::vector<const HostBatch*> current_;
  std::unique_ptr<Workers> workers_;  // nullptr: none; ends before the buffers do
};

}  // namespace slipway
