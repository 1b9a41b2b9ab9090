// What is ddp's own: its plan, its order of launches, and when it talks.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/dp/dp_instance.h"

namespace {

const slw_component& ddp() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_ddp.so"), SLW_KIND_DP, "ddp");
}

DpRecord plan_of(const std::vector<DpTable::Row>& rows, const std::string& options, int32_t dp_size = 1) {
  return plan_of(ddp(), rows, options, dp_run(dp_size, 0));
}

TEST(DdpPlan, ClosesABucketWithTheParameterThatFillsIt) {
  const DpRecord plan = plan_of({{"A", 100}, {"B", 50}, {"C", 30}}, R"({"ddp_bucket_size": 60})");
  EXPECT_EQ(plan.text(),
            "buffer f32 f32 256 dp_cp 0 -1 0\n"
            "bucket 0 0 128\nbucket 0 128 256\n"
            "place 2 0 0\nplace 1 0 64\nplace 0 0 128\n");
}

TEST(DdpPlan, HasOneBufferPerDtypeGroupAndChunk) {
  const DpRecord plan = plan_of(
      {{"a", 10, "dp_cp", "", slw::bf16}, {"b", 10, "edp"}, {"c", 10}, {"d", 10, "dp_cp", "", {0, 0, 0}, 1}, {"e", 10}},
      "{}");
  EXPECT_EQ(plan.text(),
            "buffer f32 f32 128 dp_cp 0 -1 0\n"
            "buffer f32 f32 64 dp_cp 0 -1 1\n"
            "buffer f32 f32 64 edp 0 -1 0\n"
            "buffer bf16 f32 64 dp_cp 0 -1 0\n"
            "bucket 1 0 64\nbucket 0 0 128\nbucket 2 0 64\nbucket 3 0 64\n"
            "place 4 0 0\nplace 3 1 0\nplace 2 0 64\nplace 1 2 0\nplace 0 3 0\n");
}

TEST(DdpPlan, BucketsComeInTheOrderOfTheirLastGradient) {
  const DpRecord plan = plan_of({{"dense0", 10}, {"expert0", 10, "edp"}, {"dense1", 10}, {"expert1", 10, "edp"}},
                                R"({"ddp_bucket_size": 1})");
  std::vector<int32_t> buffers;
  for (const auto& bucket : plan.buckets) buffers.push_back(bucket.buffer);
  EXPECT_EQ(buffers, (std::vector<int32_t>{0, 1, 0, 1}));
}

// Megatron's replicated buffers have no gaps, so those that lie between ours fill no bucket.
TEST(DdpPlan, GapsDoNotFillABucket) {
  const DpRecord plan = plan_of({{"A", 10}, {"B", 5}, {"C", 50}, {"D", 45}}, R"({"ddp_bucket_size": 100})");
  EXPECT_EQ(plan.text(),
            "buffer f32 f32 256 dp_cp 0 -1 0\n"
            "bucket 0 0 192\nbucket 0 192 256\n"
            "place 3 0 0\nplace 2 0 64\nplace 1 0 128\nplace 0 0 192\n");
}

// Two ranks; the other one is a thread that reports in its own order.
class DdpPair : public ::testing::Test {
 protected:
  static constexpr int32_t kParams = 6;
  static std::string options(bool overlaps) {
    return std::string(R"({"ddp_bucket_size": 150, "overlap_grad_reduce": )") + (overlaps ? "true" : "false") + "}";
  }
  static std::vector<DpTable::Row> rows() {
    std::vector<DpTable::Row> rows;
    for (int32_t p = 0; p < kParams; ++p) rows.push_back({"p" + std::to_string(p), 100});
    return rows;  // three buckets: {5, 4} {3, 2} {1, 0}
  }
  static void fill(DpInstance& dp, int32_t rank) {
    for (int32_t p = 0; p < kParams; ++p) {
      for (int32_t i = 0; i < 100; ++i) dp.grad(p)[i] = 0.1f * static_cast<float>(i + p) / static_cast<float>(rank + 3);
    }
  }

  std::vector<std::vector<float>> run(bool overlaps, const std::vector<int32_t>& order) {
    FakeWorld world(2, 1);
    const DpTable table(rows());
    std::thread peer([&] {
      DpInstance dp(ddp(), world.rank(1).get(), dp_run(2, 1), options(overlaps));
      dp.plan(table);
      dp.attach();
      fill(dp, 1);
      dp.step_begin();
      dp.finish();
    });
    DpInstance dp(ddp(), world.rank(0).get(), dp_run(2, 0), options(overlaps));
    dp.plan(table);
    dp.attach();
    fill(dp, 0);
    dp.step_begin();
    for (const int32_t param : order) dp.ready(param);
    num_early_ = world.rank(0).collectives().size();
    dp.finish();
    peer.join();
    reductions_.clear();
    for (const Collective& r : world.rank(0).collectives()) {
      EXPECT_TRUE(r.is_async);
      reductions_.push_back(static_cast<const float*>(r.data) - dp.grad_memory()[0].data());
    }
    return dp.grad_memory();
  }

  std::size_t num_early_ = 0;
  std::vector<int64_t> reductions_;  // where each begins in the buffer
};

TEST_F(DdpPair, LaunchesInTheOrderOfThePlanWhateverComesFirst) {
  for (const std::vector<int32_t>& order :
       {std::vector<int32_t>{5, 4, 3, 2, 1, 0}, {0, 1, 2, 3, 4, 5}, {2, 5, 0, 3, 1, 4}}) {
    for (const bool overlaps : {true, false}) {
      run(overlaps, order);
      EXPECT_EQ(reductions_, (std::vector<int64_t>{0, 256, 512}));
      EXPECT_EQ(num_early_, overlaps ? 3u : 0u);
    }
  }
}

TEST_F(DdpPair, ABucketWaitsForThoseBeforeIt) {
  run(true, {0, 1, 2, 3, 4});
  EXPECT_EQ(num_early_, 0u);
  run(true, {5, 4, 1, 0});
  EXPECT_EQ(num_early_, 1u);
  EXPECT_EQ(reductions_.size(), 3u);
}

TEST_F(DdpPair, OverlapDoesNotChangeBits) {
  const auto expected = run(false, {});
  EXPECT_EQ(run(true, {5, 4, 3, 2, 1, 0}), expected);
  EXPECT_EQ(run(true, {0, 1, 2, 3, 4, 5}), expected);
}

TEST(Ddp, OneRankDoesNotTalk) {
  FakeWorld world(2, 1);
  const DpTable table({{"expert", 100, "edp"}});
  DpInstance dp(ddp(), world.rank(0).get(), dp_run(2, 0));
  dp.plan(table);
  dp.attach();
  dp.grad(0)[7] = 3.0f;
  dp.step_begin();
  dp.ready(0);
  dp.finish();
  EXPECT_TRUE(world.rank(0).collectives().empty());
  EXPECT_EQ(dp.grad(0)[7], 3.0f);
}

TEST(Ddp, RefusesGradientsOnSeveralStreams) {
  FakeWorld world(1, 1);
  const DpTable table({{"a", 10}, {"b", 10}});
  int one = 0, other = 0;
  DpInstance dp(ddp(), world.rank(0).get(), dp_run(1, 0));
  dp.plan(table);
  dp.attach();
  dp.step_begin();
  dp.ready(0, true, &one);
  EXPECT_NE(error_of([&] { dp.ready(1, true, &other); }).find("overlap_grad_reduce"), std::string::npos);
}

TEST(Ddp, NeedsTheCommServiceAndTheGroup) {
  ToyHost bare;
  const DpTable table({{"a", 10}});
  DpInstance dp(ddp(), bare.get(), dp_run(1, 0));
  dp.plan(table);
  EXPECT_NE(error_of([&] { dp.attach(); }).find("slw.comm/1"), std::string::npos);
  FakeWorld world(1, 1);
  const DpTable strange({{"a", 10, "dp_xp"}});
  DpInstance other(ddp(), world.rank(0).get(), dp_run(1, 0));
  other.plan(strange);
  EXPECT_NE(error_of([&] { other.attach(); }).find("dp_xp"), std::string::npos);
}

}  // namespace
