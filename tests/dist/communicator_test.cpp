#include "core/comm/communicator.h"

#include <gtest/gtest.h>

#include <numeric>

#include "core/base/error.h"
#include "core/comm/comm_service.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

constexpr std::chrono::seconds kTimeout{20};

Mesh data_parallel(int world) {
  MeshSizes sizes;
  sizes.world = world;
  return Mesh(sizes);
}

struct Vector {
  std::vector<float> values;
  int64_t shape, stride = 1;
  explicit Vector(std::vector<float> v) : values(std::move(v)), shape(static_cast<int64_t>(values.size())) {}
  slw_tensor tensor() { return {values.data(), {SLW_DEVICE_CPU, 0}, 1, {SLW_CODE_FLOAT, 32, 1}, &shape, &stride, 0}; }
};

class CommunicatorOf : public testing::TestWithParam<int> {};

TEST_P(CommunicatorOf, ReducesGathersAndScatters) {
  const int world = GetParam();
  run_ranks(world, [&](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(world), kTimeout);
    Group& dp = *comm.group("dp_cp");
    ASSERT_EQ(dp.size(), world);
    const auto rank = static_cast<float>(environment.rank);

    Vector sum({rank, 1.0f});
    dp.all_reduce(sum.tensor(), SLW_SUM)->wait();
    EXPECT_EQ(sum.values, (std::vector<float>{static_cast<float>(world * (world - 1)) / 2, static_cast<float>(world)}));

    Vector mine({rank}), all(std::vector<float>(static_cast<size_t>(world)));
    dp.all_gather(mine.tensor(), all.tensor())->wait();
    std::vector<float> expected(static_cast<size_t>(world));
    std::iota(expected.begin(), expected.end(), 0.0f);
    EXPECT_EQ(all.values, expected);

    Vector part({0.0f});
    dp.reduce_scatter(all.tensor(), part.tensor(), SLW_SUM)->wait();
    EXPECT_EQ(part.values[0], rank * static_cast<float>(world));

    Vector shared({rank + 10});
    dp.broadcast(shared.tensor(), world - 1)->wait();
    EXPECT_EQ(shared.values[0], static_cast<float>(world - 1 + 10));

    Vector exchanged(std::vector<float>(static_cast<size_t>(world)));
    dp.all_to_all(all.tensor(), nullptr, exchanged.tensor(), nullptr)->wait();
    EXPECT_EQ(exchanged.values, std::vector<float>(static_cast<size_t>(world), rank));
    dp.barrier();
  });
}

TEST_P(CommunicatorOf, GathersTextsOfAnyLength) {
  const int world = GetParam();
  run_ranks(world, [&](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(world), kTimeout);
    const std::vector<std::string> texts =
        all_gather_text(comm.core(), std::string(static_cast<size_t>(environment.rank) * 100, 'x'));
    for (int r = 0; r < world; ++r) EXPECT_EQ(texts[static_cast<size_t>(r)].size(), static_cast<size_t>(r) * 100);
  });
}

TEST_P(CommunicatorOf, MakesGroupsOfOneWithoutANetwork) {
  const int world = GetParam();
  run_ranks(world, [&](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(world), kTimeout);
    EXPECT_EQ(comm.group("tp")->size(), 1);
    EXPECT_EQ(comm.group("no such group"), nullptr);
    Vector same({3.0f});
    comm.group("tp")->all_reduce(same.tensor(), SLW_SUM)->wait();
    EXPECT_EQ(same.values[0], 3.0f);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, CommunicatorOf, testing::Values(1, 2, 4));

TEST(Communicator, ADeadPeerIsACommError) {
  EXPECT_THROW(run_ranks(2,
                         [](const RankEnvironment& environment) {
                           const Communicator comm(environment, data_parallel(2), kTimeout);
                           if (environment.rank == 1) return;
                           Vector v({1.0f});
                           comm.group("dp")->all_reduce(v.tensor(), SLW_SUM)->wait();
                         }),
               CommError);
}

TEST(Communicator, TracesWhatItsGroupsOfSeveralRanksCall) {
  run_ranks(2, [](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(2), kTimeout);
    Vector v({1.0f, 2.0f}), out({0.0f, 0.0f, 0.0f, 0.0f});
    comm.group("tp")->all_reduce(v.tensor(), SLW_SUM)->wait();  // of one rank
    comm.group("dp")->all_reduce(v.tensor(), SLW_SUM)->wait();
    comm.trace().begin_step(1);
    comm.group("dp_cp")->all_gather(v.tensor(), out.tensor())->wait();
    comm.core().barrier();
    const std::vector<GroupCount> counts = comm.trace().counts();
    ASSERT_EQ(counts.size(), 3u);
    EXPECT_EQ(counts[0].group + " " + group_op_name(counts[0].op), "core barrier");
    EXPECT_EQ(counts[1].group + " " + group_op_name(counts[1].op), "dp all_reduce");
    EXPECT_EQ(counts[1].count, (CallCount{1, 8, 0, 0}));
    EXPECT_EQ(counts[2].count, (CallCount{1, 8, 1, 8}));
    for (const TracedCall& call : comm.trace().recent()) EXPECT_EQ(call.state, TracedCall::State::kDone);
    EXPECT_THROW(comm.group("dp")->all_reduce(v.tensor(), SLW_AVG), CommError);
  });
}

TEST(Communicator, WhoIsToldOfAFailureLearnsTheCall) {
  std::string told;
  RankTrace state;
  const auto body = [&](const RankEnvironment& environment) {
    CommWatch watch;
    if (environment.rank == 0) watch.on_failure = [&](const CommError& error) { told = error.what(); };
    const Communicator comm(environment, data_parallel(2), kTimeout, {}, watch);
    Vector v({1.0f});
    comm.group("dp")->all_reduce(v.tensor(), SLW_SUM)->wait();
    if (environment.rank == 1) return;
    EXPECT_THROW(comm.group("dp")->all_reduce(v.tensor(), SLW_SUM)->wait(), CommError);
    state = comm.trace().state();
  };
  run_ranks(2, body);
  EXPECT_TRUE(told.starts_with("all_reduce #1 of group dp (2 ranks, 4 bytes) failed: ")) << told;
  ASSERT_TRUE(state.waits_in);
  EXPECT_EQ(state.waits_in->number, 1);
}

TEST(CommService, TurnsFailuresIntoCodesWithText) {
  const slw_comm table = make_comm_service([](const slw_host*, const char*) -> const slw_group* { return nullptr; });
  const std::unique_ptr<Group> group = make_local_group("alone", 0);
  Vector v({1.0f});
  slw_tensor tensor = v.tensor();
  char text[200] = "";
  slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, text, sizeof(text), 0};
  EXPECT_EQ(table.send(as_slw_group(group.get()), &tensor, 1, nullptr, nullptr, &error), SLW_COMM);
  EXPECT_NE(std::string(text).find("nobody to send to"), std::string::npos) << text;
  EXPECT_EQ(table.send(as_slw_group(group.get()), &tensor, 1, nullptr, nullptr, nullptr), SLW_COMM);
}

}  // namespace
}  // namespace slipway
