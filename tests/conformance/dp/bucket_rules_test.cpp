// The bucket rules that ddp and distributed_optimizer share, and their options.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/dp/dp_instance.h"

namespace {

class BucketRules : public ::testing::TestWithParam<const char*> {
 protected:
  static const slw_component& component() {
    const std::string name = GetParam();
    return find_component(load_plugin(built_plugins_dir() + "libslipway_" + name + ".so"), SLW_KIND_DP, name);
  }
  static DpRecord plan_of(const std::vector<DpTable::Row>& rows, const std::string& options,
                          const slw_run_info& run = dp_run(1, 0)) {
    return ::plan_of(component(), rows, options, run);
  }
};

TEST_P(BucketRules, DefaultSizeGrowsWithTheRanks) {
  const std::vector<DpTable::Row> rows{{"a", 1'000'000}, {"b", 30'000'000}, {"c", 30'000'000}};
  EXPECT_EQ(plan_of(rows, "{}").buckets.size(), 2u);
  EXPECT_EQ(plan_of(rows, "{}", dp_run(40, 0)).buckets.size(), 2u);
  EXPECT_EQ(plan_of(rows, "{}", dp_run(100, 0)).buckets.size(), 1u);
  slw_run_info run = dp_run(50, 0);
  run.cp_size = 2;
  EXPECT_EQ(plan_of(rows, "{}", run).buckets.size(), 1u);
}

TEST_P(BucketRules, NumBucketsDividesTheParameters) {
  const std::vector<DpTable::Row> rows(8, {"a", 640});
  EXPECT_EQ(plan_of(rows, R"({"ddp_num_buckets": 4})").buckets.size(), 4u);
  EXPECT_EQ(plan_of(rows, R"({"ddp_num_buckets": 1})").buckets.size(), 1u);
  EXPECT_EQ(plan_of(rows, R"({"ddp_num_buckets": 1000000})").buckets.size(), 8u);
}

TEST_P(BucketRules, ATieHasABucketOfItsOwn) {
  const std::vector<DpTable::Row> rows{{"a", 64}, {"tied", 64, "dp_cp", "word_embeddings"}, {"b", 64}, {"c", 64}};
  for (const char* options : {R"({"ddp_bucket_size": 1000000})", R"({"ddp_bucket_size": 64})"}) {
    const DpRecord plan = plan_of(rows, options);
    const int64_t tied = plan.place_of(1).offset;
    const auto at = std::find_if(plan.buckets.begin(), plan.buckets.end(),
                                 [&](const DpRecord::Bucket& b) { return b.begin == tied; });
    ASSERT_NE(at, plan.buckets.end());
    EXPECT_LE(at->end, plan.place_of(0).offset);
  }
}

TEST_P(BucketRules, ChunksAfterTheFirstHaveOneBucket) {
  std::vector<DpTable::Row> rows;
  for (int32_t chunk = 0; chunk < 3; ++chunk) {
    for (int i = 0; i < 4; ++i) rows.push_back({"p", 128, "dp_cp", "", slw::any_dtype, chunk});
  }
  std::map<int32_t, int> buckets;
  const DpRecord plan = plan_of(rows, R"({"ddp_bucket_size": 100})");
  for (const DpRecord::Bucket& b : plan.buckets) {
    ++buckets[plan.buffers[static_cast<std::size_t>(b.buffer)].plan.chunk];
  }
  EXPECT_EQ(buckets, (std::map<int32_t, int>{{0, 4}, {1, 1}, {2, 1}}));
}

TEST_P(BucketRules, LaterStagesHaveOneBucketAndTheirTies) {
  const std::vector<DpTable::Row> rows{{"a", 128}, {"b", 128}, {"c", 128}, {"tied", 128, "dp_cp", "word_embeddings"}};
  slw_run_info run = dp_run(2, 0);
  run.pp_size = 2;
  for (const char* options : {R"({"ddp_bucket_size": 100})", R"({"ddp_num_buckets": 4})"}) {
    EXPECT_EQ(plan_of(rows, options, run).buckets.size(), 4u);
    run.pp_rank = 1;
    EXPECT_EQ(plan_of(rows, options, run).buckets.size(), 2u);
    run.pp_rank = 0;
  }
}

TEST_P(BucketRules, AreTheSameWithAndWithoutOverlap) {
  const std::vector<DpTable::Row> rows(20, {"a", 100});
  EXPECT_EQ(plan_of(rows, R"({"ddp_bucket_size": 300, "overlap_grad_reduce": true})").text(),
            plan_of(rows, R"({"ddp_bucket_size": 300, "overlap_grad_reduce": false})").text());
}

TEST_P(BucketRules, GradientsAreFp32OrAsTheirParameters) {
  const std::vector<DpTable::Row> rows{{"a", 10, "dp_cp", "", slw::bf16}, {"b", 10}};
  const auto grad = [](const DpRecord& plan, std::size_t i) { return slw::dtype_name(plan.buffers[i].plan.grad); };
  const DpRecord wide = plan_of(rows, "{}"), narrow = plan_of(rows, R"({"grad_reduce_in_fp32": false})");
  EXPECT_EQ(grad(wide, 0) + grad(wide, 1), "f32f32");
  EXPECT_EQ(grad(narrow, 0) + grad(narrow, 1), "f32bf16");
}

TEST_P(BucketRules, RefuseOptionsThatContradict) {
  EXPECT_NE(error_of([] { plan_of({}, R"({"ddp_bucket_size": 5, "ddp_num_buckets": 5})"); }).find("leave one out"),
            std::string::npos);
  EXPECT_NE(error_of([] { plan_of({}, R"({"ddp_bucket_size": 0})"); }).find("at least 1"), std::string::npos);
  EXPECT_NE(error_of([] { plan_of({}, R"({"ddp_num_buckets": 0})"); }).find("at least 1"), std::string::npos);
  EXPECT_NE(error_of([] { plan_of({}, R"({"ddp_bucket_size": "big"})"); }).find("ddp_bucket_size"), std::string::npos);
  EXPECT_NE(error_of([] { plan_of({}, R"({"overlap_grad_reduce": 1})"); }).find("overlap_grad_reduce"),
            std::string::npos);
}

// What every rank owns of the reduced gradient of 300 elements after one step.
std::vector<float> reduced(const slw_component& component, int32_t world_size, const std::string& options) {
  FakeWorld world(world_size, 1);
  const DpTable table({{"a", 100}, {"b", 200}});
  std::vector<float> sums(300);
  std::vector<std::thread> ranks;
  for (int32_t rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back([&, rank] {
      DpInstance dp(component, world.rank(rank).get(), dp_run(world_size, rank), options);
      const DpRecord plan = dp.plan(table);
      dp.attach();
      for (int32_t p = 0; p < 2; ++p) {
        for (int32_t i = 0; i < (p + 1) * 100; ++i)
          dp.grad(p)[i] = static_cast<float>(i + 1) * static_cast<float>(rank + 1);
      }
      dp.step_begin();
      dp.finish();
      for (int32_t p = 0; p < 2; ++p) {
        for (const DpRecord::Shard& shard : plan.owned(p, rank, (p + 1) * 100)) {
          if (plan.shards.empty() && rank != 0) continue;
          std::copy(dp.grad(p) + shard.begin, dp.grad(p) + shard.end, sums.begin() + p * 100 + shard.begin);
        }
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return sums;
}

TEST_P(BucketRules, AveragingInTheCollectiveStillGivesSums) {
  for (const int32_t world_size : {2, 4}) {  // powers of two: scaling is exact
    const std::vector<float> sums = reduced(component(), world_size, R"({"average_in_collective": false})");
    EXPECT_EQ(sums[99], 100.0f * static_cast<float>(world_size * (world_size + 1)) / 2.0f);
    EXPECT_EQ(reduced(component(), world_size, R"({"average_in_collective": true})"), sums);
  }
  const std::vector<float> sums = reduced(component(), 3, "{}");
  const std::vector<float> averaged = reduced(component(), 3, R"({"average_in_collective": true})");
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_FLOAT_EQ(averaged[i], sums[i]);
}

TEST_P(BucketRules, AveragingWantsHostMemoryAndATypeItCanScale) {
  FakeWorld world(1, 1);
  const DpTable table({{"a", 10, "dp_cp", "", slw::f16}});
  DpInstance dp(component(), world.rank(0).get(), dp_run(1, 0),
                R"({"average_in_collective": true, "grad_reduce_in_fp32": false})");
  dp.plan(table);
  EXPECT_NE(error_of([&] { dp.attach(); }).find("average_in_collective"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Plugins, BucketRules, ::testing::Values("ddp", "distributed_optimizer"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
