#include "core/comm/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "core/comm/watchdog.h"

namespace slipway {
namespace {

using testing::ElementsAre;

std::vector<int64_t> numbers_of(const std::vector<TracedCall>& calls) {
  std::vector<int64_t> numbers;
  for (const TracedCall& call : calls) numbers.push_back(call.number);
  return numbers;
}

TEST(CollectiveTrace, KeepsTheLatestThatEndedAndAllUnderWay) {
  CollectiveTrace trace(3);
  const size_t dp = trace.add_group("dp", {0, 1});
  const TracedCall open = trace.start(dp, GroupOp::kAllReduce, 8);
  for (int i = 0; i < 5; ++i) trace.finish(trace.start(dp, GroupOp::kBarrier, 0));
  EXPECT_THAT(numbers_of(trace.recent()), ElementsAre(3, 4, 5, 0));
  EXPECT_EQ(trace.recent().front().state, TracedCall::State::kDone);
  trace.finish(open);
  trace.finish(open);
  EXPECT_THAT(numbers_of(trace.recent()), ElementsAre(4, 5, 0));
}

TEST(CollectiveTrace, NumbersCollectivesOfAGroupApartFromTransfers) {
  CollectiveTrace trace;
  const size_t dp = trace.add_group("dp", {0, 2}), pp = trace.add_group("pp", {0, 1});
  trace.start(dp, GroupOp::kAllReduce, 8);
  EXPECT_EQ(trace.start(pp, GroupOp::kSend, 4, 1).number, 0);
  EXPECT_EQ(trace.start(pp, GroupOp::kRecv, 4, 1).number, 1);
  EXPECT_EQ(trace.start(pp, GroupOp::kBroadcast, 4).number, 0);
  const TracedCall second = trace.start(dp, GroupOp::kAllGather, 1024);
  EXPECT_EQ(trace.describe(second), "all_gather #1 of group dp (2 ranks, 1024 bytes)");
}

TEST(CollectiveTrace, CountsSinceTheStartAndInTheStep) {
  CollectiveTrace trace;
  const size_t dp = trace.add_group("dp", {0, 1});
  trace.begin_step(1);
  trace.start(dp, GroupOp::kAllReduce, 100);
  trace.begin_step(2);
  trace.start(dp, GroupOp::kAllReduce, 20);
  trace.start(dp, GroupOp::kAllReduce, 3);
  const std::vector<GroupCount> counts = trace.counts();
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].group, "dp");
  EXPECT_EQ(counts[0].op, GroupOp::kAllReduce);
  EXPECT_EQ(counts[0].count, (CallCount{3, 123, 2, 23}));
}

TEST(CollectiveTrace, StateTellsWhereTheRankWaits) {
  CollectiveTrace trace;
  const size_t core = trace.add_group("core", {0, 1}), dp = trace.add_group("dp", {0, 1});
  trace.enter("train");
  EXPECT_EQ(trace.state(), (RankTrace{0, "train", {{"core", {0, 1}, -1}, {"dp", {0, 1}, -1}}, {}}));
  trace.begin_step(7);
  trace.set_phase("backward");
  const TracedCall first = trace.start(dp, GroupOp::kAllReduce, 4096), second = trace.start(dp, GroupOp::kAllReduce, 8);
  EXPECT_FALSE(trace.state().waits_in);  // under way, while the rank goes on
  trace.await(second);
  trace.await(first);
  RankTrace state = trace.state();
  ASSERT_TRUE(state.waits_in);
  EXPECT_EQ(state.waits_in->number, 1);
  EXPECT_EQ(state.phase, "step 7 backward");
  EXPECT_EQ(state.groups[1].last, 1);
  trace.fail(trace.start(dp, GroupOp::kAllReduce, 1));  // refused at once
  trace.fail(first);
  trace.finish(trace.start(core, GroupOp::kBarrier, 0));
  state = trace.state();
  EXPECT_EQ(call_text(*state.waits_in), "all_reduce #0 of group dp (ranks 0, 1; 4096 bytes)");
  EXPECT_EQ(state.groups[0].last, 0);
}

TEST(CollectiveTrace, ATransferNamesTheOtherRank) {
  CollectiveTrace trace;
  const TracedCall call = trace.start(trace.add_group("pp", {3, 7}), GroupOp::kRecv, 64, 1);
  trace.await(call);
  EXPECT_EQ(call_text(*trace.state().waits_in), "recv #0 with rank 7 of group pp (ranks 3, 7; 64 bytes)");
}

TEST(RankTrace, CrossesAsJson) {
  const RankTrace trace{7,
                        "step 7 backward",
                        {{"dp", {0, 1}, 31}, {"pp", {0, 2}, -1}},
                        AwaitedCall{"dp", {0, 1}, "all_reduce", 31, 4096, -1, 0.5}};
  EXPECT_EQ(rank_trace_of(to_json(trace)), trace);
  const RankTrace nothing;
  EXPECT_EQ(rank_trace_of(to_json(nothing)), nothing);
  EXPECT_EQ(ranks_text({0, 1, 4, 5, 6, 9}), "0, 1, 4-6, 9");
}

TEST(Watchdog, TellsOnceOfWhatIsAwaitedForTooLong) {
  const auto trace = std::make_shared<CollectiveTrace>();
  const size_t dp = trace->add_group("dp", {0, 1});
  trace->start(dp, GroupOp::kAllGather, 8);  // nobody waits for it
  const TracedCall call = trace->start(dp, GroupOp::kAllReduce, 16);
  std::promise<std::string> told;
  const Watchdog watchdog({trace, [&](const CommError& error) { told.set_value(error.what()); }},
                          std::chrono::milliseconds(300));
  std::future<std::string> text = told.get_future();
  EXPECT_EQ(text.wait_for(std::chrono::milliseconds(700)), std::future_status::timeout);
  trace->await(call);
  EXPECT_EQ(text.get(), "all_reduce #1 of group dp (2 ranks, 16 bytes) is not over after 1 s");
}

}  // namespace
}  // namespace slipway
