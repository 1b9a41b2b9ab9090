#include "plugins/text/epoch_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace {

using ::testing::ElementsAre;

// The numbers are numpy's: numpy.random.RandomState(1234).shuffle(numpy.arange(n)).
TEST(NumpyShuffled, IsNumpysShuffle) {
  EXPECT_THAT(numpy_shuffled(1234, 10), ElementsAre(7, 2, 9, 1, 0, 8, 4, 5, 6, 3));
  const std::vector<uint32_t> thousand = numpy_shuffled(1234, 1000);
  EXPECT_THAT(std::vector<uint32_t>(thousand.begin(), thousand.begin() + 8),
              ElementsAre(681, 990, 155, 768, 438, 363, 688, 555));
  EXPECT_THAT(numpy_shuffled(0, 5), ElementsAre(2, 0, 1, 3, 4));
}

TEST(NumpyShuffled, SmallOnesAreTrivial) {
  EXPECT_TRUE(numpy_shuffled(1, 0).empty());
  EXPECT_THAT(numpy_shuffled(1, 1), ElementsAre(0));
}

TEST(NumpyShuffled, LargeSeedsDiffer) {
  EXPECT_NE(numpy_shuffled(1, 100), numpy_shuffled((uint64_t{1} << 32) + 1, 100));
}

TEST(EpochOrder, EpochsAreShuffledBySeedPlusEpoch) {
  const EpochOrder order(7, 50);
  for (const int64_t epoch : {0, 5, 1, 0}) {
    const std::vector<uint32_t> expected = numpy_shuffled(7 + static_cast<uint64_t>(epoch), 50);
    for (uint32_t i = 0; i < 50; ++i) EXPECT_EQ(order.sample(epoch, i), expected[i]);
  }
}

TEST(EpochOrder, ManyThreadsInManyEpochsAgree) {
  const EpochOrder order(7, 20);
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t epoch = (i * 3 + static_cast<int64_t>(t)) % 9;
        const auto position = static_cast<uint32_t>(i % 20);
        wrong[t] += order.sample(epoch, position) != numpy_shuffled(7 + static_cast<uint64_t>(epoch), 20)[position];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::accumulate(wrong.begin(), wrong.end(), 0), 0);
}

}  // namespace
