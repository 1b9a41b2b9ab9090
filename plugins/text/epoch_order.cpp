#include "plugins/text/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace {

// numpy's masked rejection: draws until the masked word is at most `max`.
uint32_t draw_up_to(std::mt19937& generator, uint32_t max) {
  uint32_t mask = max;
  for (int shift = 1; shift <= 16; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const uint32_t value = static_cast<uint32_t>(generator()) & mask;
    if (value <= max) return value;
  }
}

}  // namespace

std::vector<uint32_t> numpy_shuffled(uint64_t seed, uint32_t n) {
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937 generator(static_cast<uint32_t>(seed ^ (seed >> 32)));
  for (uint32_t i = n; i-- > 1;) std::swap(order[i], order[draw_up_to(generator, i)]);
  return order;
}

std::shared_ptr<const std::vector<uint32_t>> EpochOrder::order(int64_t epoch) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto at = std::find_if(kept_.begin(), kept_.end(), [&](const Entry& e) { return e.epoch == epoch; });
  if (at != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, at);
  } else {
    const uint64_t seed = seed_ + static_cast<uint64_t>(epoch);
    kept_.push_front({epoch, std::make_shared<const std::vector<uint32_t>>(numpy_shuffled(seed, num_samples_))});
    if (kept_.size() > kKeptEpochs) kept_.pop_back();
  }
  return kept_.front().order;
}
