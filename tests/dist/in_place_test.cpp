// reduce_scatter and all_gather over one buffer: a rank's part is its own slice of the whole.
#include <gtest/gtest.h>

#include <deque>

#include "core/comm/communicator.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

constexpr std::chrono::seconds kTimeout{20};
constexpr int64_t kSlice = 1000;

Mesh data_parallel(int world) {
  MeshSizes sizes;
  sizes.world = world;
  return Mesh(sizes);
}

// Slices of all ranks, one after the other, in memory of its own.
class Whole {
 public:
  Whole(int world, int rank) : world_(world), rank_(rank), values_(static_cast<size_t>(world * kSlice)) {}
  float& operator[](int64_t i) { return values_[static_cast<size_t>(i)]; }
  int64_t begin() const { return rank_ * kSlice; }
  int64_t size() const { return world_ * kSlice; }
  slw_tensor all() { return view(0, &whole_shape_); }
  slw_tensor mine() { return view(begin(), &slice_shape_); }

 private:
  slw_tensor view(int64_t at, int64_t* shape) {
    return {values_.data() + at, {SLW_DEVICE_CPU, 0}, 1, {SLW_CODE_FLOAT, 32, 1}, shape, &stride_, 0};
  }
  int world_, rank_;
  std::vector<float> values_;
  int64_t whole_shape_ = world_ * kSlice, slice_shape_ = kSlice, stride_ = 1;
};

class InPlaceOf : public testing::TestWithParam<int> {};

// Several at once, as a backend has them under way.
TEST_P(InPlaceOf, ReduceScatterSumsIntoTheOwnSlice) {
  const int world = GetParam();
  run_ranks(world, [&](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(world), kTimeout);
    std::deque<Whole> buffers;
    std::vector<WorkPtr> works;
    for (int64_t b = 0; b < 5; ++b) {
      Whole& buffer = buffers.emplace_back(world, environment.rank);
      for (int64_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<float>((i + b) * (environment.rank + 1));
      works.push_back(comm.group("dp_cp")->reduce_scatter(buffer.all(), buffer.mine(), SLW_SUM));
    }
    for (const WorkPtr& work : works) work->wait();
    const int64_t factors = int64_t{world} * (world + 1) / 2;
    for (int64_t b = 0; b < 5; ++b) {
      Whole& buffer = buffers[static_cast<size_t>(b)];
      for (int64_t i = buffer.begin(); i < buffer.begin() + kSlice; ++i) {
        ASSERT_EQ(buffer[i], static_cast<float>((i + b) * factors)) << "buffer " << b << ", element " << i;
      }
    }
  });
}

TEST_P(InPlaceOf, AllGatherFillsInTheOthersSlices) {
  const int world = GetParam();
  run_ranks(world, [&](const RankEnvironment& environment) {
    const Communicator comm(environment, data_parallel(world), kTimeout);
    std::deque<Whole> buffers;
    std::vector<WorkPtr> works;
    for (int64_t b = 0; b < 5; ++b) {
      Whole& buffer = buffers.emplace_back(world, environment.rank);
      for (int64_t i = buffer.begin(); i < buffer.begin() + kSlice; ++i) buffer[i] = static_cast<float>(i * (b + 1));
      works.push_back(comm.group("dp_cp")->all_gather(buffer.mine(), buffer.all()));
    }
    for (const WorkPtr& work : works) work->wait();
    for (int64_t b = 0; b < 5; ++b) {
      Whole& buffer = buffers[static_cast<size_t>(b)];
      for (int64_t i = 0; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], static_cast<float>(i * (b + 1)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, InPlaceOf, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace slipway
