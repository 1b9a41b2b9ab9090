#include "core/data/sampler.h"

#include <gtest/gtest.h>

#include <set>

namespace slipway {
namespace {

// All ordinals that a step of `global` samples reads, over ranks and microbatches.
std::multiset<int64_t> step_ordinals(int64_t micro_batch, int64_t dp_size, int64_t global, int64_t consumed) {
  std::multiset<int64_t> all;
  for (int64_t rank = 0; rank < dp_size; ++rank) {
    for (int64_t m = 0; m < global / (micro_batch * dp_size); ++m) {
      for (const int64_t ordinal : microbatch_ordinals({micro_batch, dp_size, rank}, consumed, m)) all.insert(ordinal);
    }
  }
  return all;
}

TEST(Sampler, AStepReadsTheSameSamplesInEveryLayout) {
  const std::multiset<int64_t> one = step_ordinals(1, 1, 16, 48);
  EXPECT_EQ(one.size(), 16u);
  EXPECT_EQ(*one.begin(), 48);
  EXPECT_EQ(*one.rbegin(), 63);
  for (const int64_t micro_batch : {1, 2, 4}) {
    for (const int64_t dp_size : {1, 2, 4}) EXPECT_EQ(step_ordinals(micro_batch, dp_size, 16, 48), one);
  }
}

TEST(Sampler, RowsOfARankAreConsecutive) {
  EXPECT_EQ(microbatch_ordinals({4, 2, 1}, 100, 3), (std::vector<int64_t>{128, 129, 130, 131}));
}

}  // namespace
}  // namespace slipway
