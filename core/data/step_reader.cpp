#include "core/data/step_reader.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

#include "core/base/crash_report.h"
#include "core/base/error.h"

namespace slipway {

struct StepReader::Workers {
  explicit Workers(size_t count) : pool(count) {}
  boost::asio::thread_pool pool;
};

StepReader::StepReader(const HostDataset& dataset, const SamplerGrid& grid, int64_t num_workers, BatchUse use)
    : dataset_(dataset), grid_(grid), size_(dataset.info().size) {
  if (use == BatchUse::kOrdinals) return;
  fields_ = dataset.fields();
  const int64_t useful = dataset.is_thread_safe() ? num_workers : std::min<int64_t>(num_workers, 1);
  if (useful > 0) workers_ = std::make_unique<Workers>(static_cast<size_t>(useful));
}

StepReader::~StepReader() {
  if (workers_) workers_->pool.join();
}

const std::vector<const HostBatch*>& StepReader::read(const StepRange& step, const std::optional<StepRange>& next) {
  require_samples(step.consumed + samples_of(step), "the next step");
  Buffer& buffer = buffers_[next_buffer_];
  next_buffer_ = 1 - next_buffer_;
  if (buffer.range != step) {
    for (std::future<void>& unwanted : buffer.reading) unwanted.wait();
    start(buffer, step);
  }
  finish(buffer);
  const bool reads_ahead = workers_ && next && next->consumed + samples_of(*next) <= size_;
  if (reads_ahead) start(buffers_[next_buffer_], *next);

  current_.clear();
  for (int64_t m = 0; m < step.num_microbatches; ++m) current_.push_back(&buffer.batches[static_cast<size_t>(m)]);
  return current_;
}

void StepReader::start(Buffer& buffer, const StepRange& step) {
  buffer.range = step;
  buffer.reading.clear();
  while (static_cast<int64_t>(buffer.batches.size()) < step.num_microbatches) {
    buffer.batches.emplace_back(fields_, grid_.micro_batch);
  }
  for (int64_t m = 0; m < step.num_microbatches; ++m) {
    std::packaged_task<void()> task([this, &batch = buffer.batches[static_cast<size_t>(m)],
                                     ordinals = microbatch_ordinals(grid_, step.consumed, m)] {
      if (workers_) give_crash_stack();
      batch.load(dataset_, ordinals, ordinals);
    });
    buffer.reading.push_back(task.get_future());
    if (workers_) {
      boost::asio::post(workers_->pool, std::move(task));
    } else {
      task();
    }
  }
}

// All are waited for before the first failure is thrown: no thread writes into a buffer that is given up.
void StepReader::finish(Buffer& buffer) {
  for (std::future<void>& reading : buffer.reading) reading.wait();
  buffer.range.reset();
  for (std::future<void>& reading : std::exchange(buffer.reading, {})) reading.get();
}

int64_t StepReader::bytes() const {
  int64_t total = 0;
  for (const Buffer& buffer : buffers_) {
    for (const HostBatch& batch : buffer.batches) total += batch.bytes();
  }
  return total;
}

int64_t StepReader::samples_of(const StepRange& step) const {
  return step.num_microbatches * grid_.dp_size * grid_.micro_batch;
}

void StepReader::require_samples(int64_t wanted, const std::string& what_for) const {
  if (wanted <= size_) return;
  throw DataError("the dataset has " + std::to_string(size_) + " samples, " + what_for + " needs " +
                  std::to_string(wanted) +
                  "; give more data, allow more epochs (data.epochs, where the dataset has it), or lower train_iters");
}

}  // namespace slipway
