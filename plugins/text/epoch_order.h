// The order of an epoch's samples: 0..n-1 shuffled as numpy.random.RandomState(seed + epoch).shuffle does it. It
// depends on nothing else, so it does not change when a run gets longer. Any thread.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

// 0..n-1 shuffled by RandomState(seed); REQUIRES: n < 2^32. Seeds of 2^32 and more, which numpy refuses, are folded.
std::vector<uint32_t> numpy_shuffled(uint64_t seed, uint32_t n);

class EpochOrder {
 public:
  EpochOrder(uint64_t seed, uint32_t num_samples) : seed_(seed), num_samples_(num_samples) {}

  // Which sample comes at `position` of `epoch`.
  uint32_t sample(int64_t epoch, uint32_t position) const { return (*order(epoch))[position]; }

 private:
  struct Entry {
    int64_t epoch;
    std::shared_ptr<const std::vector<uint32_t>> order;
  };
  // Threads that prefetch are seldom further apart than two epochs.
  static constexpr std::size_t kKeptEpochs = 4;

  std::shared_ptr<const std::vector<uint32_t>> order(int64_t epoch) const;

  uint64_t seed_;
  uint32_t num_samples_;
  mutable std::mutex mutex_;
  mutable std::list<Entry> kept_;  // the last used first
};
