// What is distributed_optimizer's own: padded buckets, equal shards, and gathers that wait for no more than they must.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>

#include "tests/conformance/dp/dp_instance.h"

namespace {

const slw_component& distributed_optimizer() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_distributed_optimizer.so"), SLW_KIND_DP,
                        "distributed_optimizer");
}

DpRecord plan_of(const std::vector<DpTable::Row>& rows, const std::string& options, const slw_run_info& run) {
  return plan_of(distributed_optimizer(), rows, options, run);
}

// Megatron's layout of these sizes.
TEST(DistributedOptimizerPlan, FollowsMegatronsBucketRule) {
  const DpRecord plan = plan_of({{"A", 100}, {"B", 50}, {"C", 30}}, R"({"ddp_bucket_size": 60})", dp_run(4, 0));
  EXPECT_EQ(plan.text(),
            "buffer f32 f32 256 dp_cp 0 -1 0\n"
            "bucket 0 0 128\nbucket 0 128 256\n"
            "place 2 0 0\nplace 1 0 64\nplace 0 0 128\n"
            "shard 2 0 0 30\n"
            "shard 1 2 0 32\nshard 1 3 32 50\n"
            "shard 0 0 0 32\nshard 0 1 32 64\nshard 0 2 64 96\nshard 0 3 96 100\n");
}

TEST(DistributedOptimizerPlan, GapsFillABucket) {
  const DpRecord plan = plan_of({{"A", 10}, {"B", 50}, {"C", 45}}, R"({"ddp_bucket_size": 100})", dp_run(1, 0));
  EXPECT_EQ(plan.buckets.size(), 2u);
}

TEST(DistributedOptimizerPlan, BucketsEndAtMultiplesOfTheirRanks) {
  const std::vector<DpTable::Row> rows{{"dense", 1000}, {"expert", 1000, "edp"}};
  const auto ends = [&](const slw_run_info& run, const char* options) {
    const DpRecord plan = plan_of(rows, options, run);
    std::vector<int64_t> numels(2);
    for (const DpRecord::Buffer& b : plan.buffers) numels[b.group == "edp" ? 1 : 0] = b.plan.numel;
    return numels;
  };
  EXPECT_EQ(ends(dp_run(4, 0, 2), "{}"), (std::vector<int64_t>{1024, 1024}));
  EXPECT_EQ(ends(dp_run(3, 0, 3), "{}"), (std::vector<int64_t>{1152, 1152}));
  EXPECT_EQ(ends(dp_run(10, 0, 5), "{}"), (std::vector<int64_t>{1280, 1280}));
  EXPECT_EQ(ends(dp_run(6, 0, 2), "{}"), (std::vector<int64_t>{1152, 1024}));
  EXPECT_EQ(ends(dp_run(6, 0, 2), R"({"pad_buckets_for_high_nccl_busbw": true})"),
            (std::vector<int64_t>{196608, 65536}));
}

TEST(DistributedOptimizerPlan, ShardsGoOverDataAndContextRanks) {
  slw_run_info run = dp_run(2, 0);
  run.cp_size = 2;
  const DpRecord plan = plan_of({{"a", 128}}, "{}", run);
  ASSERT_EQ(plan.shards.size(), 4u);
  EXPECT_EQ(plan.shards[3].owner, 3);
  EXPECT_EQ(plan.shards[3].begin, 96);
}

TEST(DistributedOptimizerPlan, RefusesAGroupOfUnknownSize) {
  EXPECT_NE(error_of([] { plan_of({{"a", 10, "dp_xp"}}, "{}", dp_run(2, 0)); }).find("dp_xp"), std::string::npos);
}

TEST(DistributedOptimizer, RefusesAGroupOfAnotherSizeThanPlanned) {
  FakeWorld world(2, 1);
  const DpTable table({{"a", 10}});
  DpInstance dp(distributed_optimizer(), world.rank(0).get(), dp_run(4, 0));
  dp.plan(table);
  EXPECT_NE(error_of([&] { dp.attach(); }).find("planned for 4"), std::string::npos);
}

// Two ranks with buckets {5, 4} {3, 2} {1, 0}; each test says what both do.
class DistributedOptimizerPair : public ::testing::Test {
 protected:
  static constexpr int32_t kParams = 6;
  using Body = std::function<void(DpInstance&, FakeRank&)>;

  static std::string options(bool overlaps) {
    const std::string value = overlaps ? "true" : "false";
    return R"({"ddp_bucket_size": 150, "overlap_grad_reduce": )" + value + R"(, "overlap_param_gather": )" + value +
           "}";
  }

  void run(bool overlaps, const Body& body) {
    std::vector<DpTable::Row> rows;
    for (int32_t p = 0; p < kParams; ++p) rows.push_back({"p" + std::to_string(p), 100});
    const DpTable table(rows);
    std::vector<std::thread> ranks;
    for (int32_t rank = 0; rank < 2; ++rank) {
      ranks.emplace_back([&, rank] {
        DpInstance dp(distributed_optimizer(), world_.rank(rank).get(), dp_run(2, rank), options(overlaps));
        dp.plan(table);
        dp.attach();
        body(dp, world_.rank(rank));
      });
    }
    for (std::thread& rank : ranks) rank.join();
    EXPECT_EQ(world_.rank(0).num_live_works() + world_.rank(1).num_live_works(), 0);
  }

  // Where rank 0's calls of one kind begin in its memory.
  std::vector<int64_t> starts(FakeChannel::Operation operation, const float* memory) {
    std::vector<int64_t> found;
    for (const Collective& c : world_.rank(0).collectives()) {
      EXPECT_TRUE(c.is_async);
      if (c.operation == operation) found.push_back(static_cast<const float*>(c.data) - memory);
    }
    return found;
  }

  FakeWorld world_{2, 1};
};

// Its shard of all three buckets.
std::vector<float> reduced(DpInstance& dp, int32_t rank, const std::vector<int32_t>& order) {
  for (int32_t p = 0; p < 6; ++p) {
    for (int32_t i = 0; i < 100; ++i) dp.grad(p)[i] = 0.1f * static_cast<float>(i + p) / static_cast<float>(rank + 3);
  }
  dp.step_begin();
  for (const int32_t param : order) dp.ready(param);
  dp.finish();
  std::vector<float> shards;
  const std::vector<float>& memory = dp.grad_memory()[0];
  for (int64_t begin = 0; begin < 768; begin += 256) {
    shards.insert(shards.end(), memory.begin() + begin + rank * 128, memory.begin() + begin + rank * 128 + 128);
  }
  return shards;
}

TEST_F(DistributedOptimizerPair, OverlapDoesNotChangeBits) {
  std::vector<float> plain[2], overlapped[2];
  run(false, [&](DpInstance& dp, FakeRank& rank) { plain[rank.rank()] = reduced(dp, rank.rank(), {}); });
  run(true, [&](DpInstance& dp, FakeRank& rank) {
    const std::vector<int32_t> order =
        rank.rank() == 0 ? std::vector<int32_t>{5, 4, 3, 2, 1, 0} : std::vector<int32_t>{2, 5, 0, 3, 1, 4};
    overlapped[rank.rank()] = reduced(dp, rank.rank(), order);
  });
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(plain[rank], overlapped[rank]);
}

TEST_F(DistributedOptimizerPair, ReducesInPlanOrderAndGathersInReverse) {
  for (const bool overlaps : {true, false}) {
    world_ = FakeWorld(2, 1);
    run(overlaps, [&](DpInstance& dp, FakeRank& rank) {
      dp.step_begin();
      for (const int32_t param : {0, 3, 1, 2, 5, 4}) dp.ready(param);
      EXPECT_EQ(rank.collectives().size(), overlaps ? 3u : 0u);
      dp.finish();
      dp.gather_start();
      dp.gather_wait(-1);
      if (rank.rank() != 0) return;
      using Operation = FakeChannel::Operation;
      EXPECT_EQ(starts(Operation::kReduceScatter, dp.grad(5)), (std::vector<int64_t>{0, 256, 512}));
      EXPECT_EQ(starts(Operation::kAllGather, dp.param(5)), (std::vector<int64_t>{512, 256, 0}));
    });
  }
}

TEST_F(DistributedOptimizerPair, AParameterWaitsForItsBucketOnly) {
  run(true, [](DpInstance& dp, FakeRank& rank) {
    dp.gather_start();
    EXPECT_TRUE(rank.waits().empty());
    dp.gather_wait(0);
    dp.gather_wait(1);
    dp.gather_wait(0);
    EXPECT_EQ(rank.waits(), (std::vector<int64_t>{0}));
    dp.gather_wait(5);
    EXPECT_EQ(rank.waits(), (std::vector<int64_t>{0, 2}));
    dp.step_begin();  // with a gather outstanding
    dp.gather_wait(-1);
    EXPECT_EQ(rank.waits(), (std::vector<int64_t>{0, 2, 1}));
    dp.gather_wait(-1);
    EXPECT_EQ(rank.waits().size(), 3u);
    dp.finish();
  });
}

TEST_F(DistributedOptimizerPair, AStartWaitsForTheGatherBefore) {
  run(true, [](DpInstance& dp, FakeRank& rank) {
    dp.gather_start();
    dp.gather_start();
    EXPECT_EQ(rank.waits(), (std::vector<int64_t>{0, 1, 2}));
    dp.gather_wait(-1);
    EXPECT_EQ(rank.waits(), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  });
}

TEST_F(DistributedOptimizerPair, WithoutOverlapNothingIsOutstandingAfterStart) {
  run(false, [](DpInstance& dp, FakeRank& rank) {
    dp.gather_start();
    EXPECT_EQ(rank.waits().size(), 3u);
    dp.gather_wait(3);
    EXPECT_EQ(rank.waits().size(), 3u);
  });
}

TEST_F(DistributedOptimizerPair, ManyThreadsMayWait) {
  run(true, [](DpInstance& dp, FakeRank& rank) {
    dp.param(0)[0] = 7.0f + static_cast<float>(rank.rank());  // rank 0 owns it
    dp.gather_start();
    std::vector<std::thread> threads;
    for (int32_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int32_t p = 0; p < kParams; ++p) dp.gather_wait((p + t) % kParams);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(rank.waits().size(), 3u);
    const bool owns_first_half = dp.param(0) - dp.param(1) < 128;
    EXPECT_EQ(dp.param(0)[0], owns_first_half ? 7.0f : 8.0f);
  });
}

// The peer has not come yet, so its part of every bucket is missing: a wait blocks until it does.
TEST(DistributedOptimizer, AWaitBlocksUntilThePeersPartIsThere) {
  FakeWorld world(2, 1);
  const DpTable table({{"a", 256}});
  DpInstance dp(distributed_optimizer(), world.rank(0).get(), dp_run(2, 0)),
      peer(distributed_optimizer(), world.rank(1).get(), dp_run(2, 1));
  for (DpInstance* one : {&dp, &peer}) {
    one->plan(table);
    one->attach();
  }
  peer.param(0)[200] = 5.0f;
  dp.gather_start();
  EXPECT_EQ(dp.param(0)[200], 0.0f);
  std::future<float> seen = std::async(std::launch::async, [&] {
    dp.gather_wait(0);
    return dp.param(0)[200];
  });
  peer.gather_start();
  EXPECT_EQ(seen.get(), 5.0f);
  peer.gather_wait(-1);
}

TEST(DistributedOptimizer, OneRankDoesNotTalk) {
  FakeWorld world(1, 1);
  const DpTable table({{"a", 100}});
  DpInstance dp(distributed_optimizer(), world.rank(0).get(), dp_run(1, 0));
  dp.plan(table);
  dp.attach();
  dp.grad(0)[7] = 3.0f;
  dp.step_begin();
  dp.ready(0);
  dp.finish();
  dp.gather_start();
  dp.gather_wait(0);
  EXPECT_TRUE(world.rank(0).collectives().empty());
  EXPECT_EQ(dp.grad(0)[7], 3.0f);
}

}  // namespace
