#include "core/rng/stream_tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace slipway {
namespace {

uint64_t seed_of(const StreamPlace& place, const char* stream) { return megatron_streams(1234, place).at(stream).seed; }

TEST(MegatronStreams, HaveMegatronsSeeds) {
  const StreamPlace first, other{2, 3, 4, 1, 0}, own{1, 0, 0, 0, 5};
  EXPECT_EQ(seed_of(first, kDataParallelRng), 1234u);
  EXPECT_EQ(seed_of(first, kModelParallelRng), 1234u + 2718);
  EXPECT_EQ(seed_of(first, kExpertParallelRng), 1234u + 1024);
  EXPECT_EQ(seed_of(other, kDataParallelRng), 1434u);
  EXPECT_EQ(seed_of(other, kModelParallelRng), 1434u + 2718 + 3);
  EXPECT_EQ(seed_of(other, kExpertParallelRng), 1434u + 1024 + 401);
  EXPECT_EQ(seed_of(own, kDataParallelRng), 1234u + 100 + 50);
}

// As in Megatron: the steps of pp and ep coincide over ranks, and one rank's streams may collide, which is refused.
TEST(MegatronStreams, MeetOverRanksButNotOnOne) {
  EXPECT_EQ(seed_of({1, 0, 0, 0, 0}, kExpertParallelRng), seed_of({0, 0, 1, 0, 0}, kExpertParallelRng));
  EXPECT_THROW(megatron_streams(1234, {0, 6, 17, 0, 0}), ConfigError);  // 100 ep + etp = 1694 + tp
}

TEST(StreamTracker, HandsOutEveryBlockOnce) {
  StreamTracker tracker = megatron_streams(7, {});
  EXPECT_EQ(tracker.reserve(kModelParallelRng, 10), (StreamTracker::Stream{7 + 2718, 0}));
  EXPECT_EQ(tracker.reserve(kModelParallelRng, 1), (StreamTracker::Stream{7 + 2718, 10}));
  EXPECT_EQ(tracker.reserve(3), (StreamTracker::Stream{7, 0}));
}

TEST(StreamTracker, ForksNestAndEnd) {
  StreamTracker tracker = megatron_streams(7, {});
  {
    const StreamTracker::Fork outer(tracker);
    EXPECT_EQ(tracker.reserve(1).seed, 7u + 2718);
    {
      const StreamTracker::Fork inner(tracker, kExpertParallelRng);
      EXPECT_EQ(tracker.reserve(1).seed, 7u + 1024);
    }
    EXPECT_EQ(tracker.reserve(1), (StreamTracker::Stream{7 + 2718, 1}));
  }
  EXPECT_EQ(tracker.reserve(1), (StreamTracker::Stream{7, 0}));
  EXPECT_THROW((StreamTracker::Fork{tracker, "nobody"}), ConfigError);
}

TEST(StreamTracker, RefusesANameOrSeedThatIsThere) {
  StreamTracker tracker;
  tracker.add("a", 1);
  EXPECT_THROW(tracker.add("a", 2), ConfigError);
  EXPECT_THROW(tracker.add("b", 1), ConfigError);
}

TEST(StreamTracker, GoesThroughText) {
  StreamTracker tracker = megatron_streams(UINT64_C(1) << 63, {});
  tracker.reserve(kDataParallelRng, UINT64_C(1) << 40);
  StreamTracker other = megatron_streams(UINT64_C(1) << 63, {});
  other.restore(tracker.to_json());
  EXPECT_EQ(other.at(kDataParallelRng), tracker.at(kDataParallelRng));
  EXPECT_EQ(other.at(kExpertParallelRng), tracker.at(kExpertParallelRng));
  for (const char* bad :
       {"", "[1]", R"({"a":{"seed":-}})", R"({"a":{"seed":"x","offset":0}})", R"({"a":1,"b":2,"c":3})"}) {
    EXPECT_THROW(other.restore(bad), CheckpointError) << bad;
  }
  std::string negative = tracker.to_json();
  negative.replace(negative.find("\"offset\":") + 9, 1, "-1");
  EXPECT_THROW(other.restore(negative), CheckpointError) << negative;
  EXPECT_THROW(other.restore(megatron_streams(8, {}).to_json()), CheckpointError) << "another seed";
  EXPECT_EQ(other.at(kDataParallelRng), tracker.at(kDataParallelRng)) << "a refused text changes nothing";
}

}  // namespace
}  // namespace slipway
