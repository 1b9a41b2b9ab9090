// NCCL groups: numbers of every collective, on one rank and on as many as there are GPUs.
#include <gmock/gmock.h>

#include <numeric>

#include "core/base/error.h"
#include "tests/gpu/gpu.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr std::chrono::milliseconds kTimeout{60'000};

class NcclGroup : public GpuTest {
 protected:
  // Runs `body` on a group of `size` ranks, one GPU each.
  static void on_group(int size, const std::function<void(Group&, int device)>& body) {
    run_ranks(size, [&](const RankEnvironment& environment) {
      const auto store = make_store(environment, kTimeout);
      RankList all(static_cast<size_t>(size));
      std::iota(all.begin(), all.end(), 0);
      const auto group =
          cuda_library().make_nccl_group(*store, {"world", all, environment.rank, kTimeout}, environment.rank);
      body(*group, environment.rank);
    });
  }
  static int num_gpus() { return cuda_library().device_count(); }
};

TEST_F(NcclGroup, OneRankCopies) {
  on_group(1, [](Group& group, int device) {
    const DeviceFloats values(device, {1, 2, 3}), gathered(device, {0, 0, 0}), scattered(device, {0, 0, 0});
    group.all_reduce(values.tensor(), SLW_SUM)->wait();
    group.all_gather(values.tensor(), gathered.tensor())->wait();
    group.reduce_scatter(values.tensor(), scattered.tensor(), SLW_AVG)->wait();
    group.broadcast(values.tensor(), 0)->wait();
    group.barrier();
    EXPECT_THAT(values.read(), ElementsAre(1, 2, 3));
    EXPECT_THAT(gathered.read(), ElementsAre(1, 2, 3));
    EXPECT_THAT(scattered.read(), ElementsAre(1, 2, 3));
  });
}

TEST_F(NcclGroup, HostMemoryIsRefused) {
  on_group(1, [](Group& group, int) {
    float value = 1;
    int64_t shape = 1, stride = 1;
    const slw_tensor host{&value, {SLW_DEVICE_CPU, 0}, 1, {SLW_CODE_FLOAT, 32, 1}, &shape, &stride, 0};
    EXPECT_THROW(group.all_reduce(host, SLW_SUM), CommError);
  });
}

TEST_F(NcclGroup, CallsFollowTheCallersStream) {
  on_group(1, [](Group& group, int device) {
    const DeviceFloats values(device, std::vector<float>(1 << 20, 1.0f));
    const slw_stream stream{{SLW_DEVICE_CUDA, device}, nullptr};
    const auto scope = group.order_after(&stream);
    const WorkPtr work = group.all_reduce(values.tensor(), SLW_SUM);
    work->wait_on(&stream);
    EXPECT_THAT(values.read(), Each(1.0f));
  });
}

TEST_F(NcclGroup, CollectivesOverAllGpus) {
  const int size = num_gpus();
  if (size < 2) GTEST_SKIP() << "one GPU only: no GPU found for a second rank";
  on_group(size, [size](Group& group, int rank) {
    const auto n = static_cast<float>(size), r = static_cast<float>(rank), sum = n * (n + 1) / 2;
    const DeviceFloats values(rank, {r + 1}), largest(rank, {r}), mean(rank, {r + 1});
    group.all_reduce(values.tensor(), SLW_SUM)->wait();
    group.all_reduce(largest.tensor(), SLW_MAX)->wait();
    group.all_reduce(mean.tensor(), SLW_AVG)->wait();
    EXPECT_THAT(values.read(), ElementsAre(sum));
    EXPECT_THAT(largest.read(), ElementsAre(n - 1));
    EXPECT_THAT(mean.read(), ElementsAre(testing::FloatEq(sum / n)));

    const DeviceFloats in(rank, {r}), all(rank, std::vector<float>(static_cast<size_t>(size)));
    group.all_gather(in.tensor(), all.tensor())->wait();
    EXPECT_EQ(all.read().back(), n - 1);
    const DeviceFloats part(rank, {-1});
    group.reduce_scatter(all.tensor(), part.tensor(), SLW_SUM)->wait();
    EXPECT_THAT(part.read(), ElementsAre(r * n));
    const DeviceFloats root(rank, {r});
    group.broadcast(root.tensor(), size - 1)->wait();
    EXPECT_THAT(root.read(), ElementsAre(n - 1));
  });
}

TEST_F(NcclGroup, SendsAndReceivesAroundARing) {
  const int size = num_gpus();
  if (size < 2) GTEST_SKIP() << "one GPU only: no GPU found for a second rank";
  on_group(size, [size](Group& group, int rank) {
    const DeviceFloats mine(rank, {static_cast<float>(rank)}), theirs(rank, {-1});
    group.coalesce_begin();
    group.send(mine.tensor(), (rank + 1) % size);
    group.recv(theirs.tensor(), (rank + size - 1) % size);
    group.coalesce_end()->wait();
    EXPECT_THAT(theirs.read(), ElementsAre(static_cast<float>((rank + size - 1) % size)));
  });
}

// As distributed_optimizer does: a rank's part of the buffer is the other tensor.
TEST_F(NcclGroup, ReducesAndGathersInPlace) {
  const int size = num_gpus();
  if (size < 2) GTEST_SKIP() << "one GPU only: no GPU found for a second rank";
  on_group(size, [size](Group& group, int rank) {
    const DeviceFloats buffer(rank, std::vector<float>(static_cast<size_t>(size), static_cast<float>(rank)));
    int64_t one = 1, stride = 1;
    slw_tensor part = buffer.tensor();
    part.shape = &one, part.strides = &stride;
    part.byte_offset += static_cast<uint64_t>(rank) * sizeof(float);
    group.reduce_scatter(buffer.tensor(), part, SLW_SUM)->wait();
    group.all_gather(part, buffer.tensor())->wait();
    EXPECT_THAT(buffer.read(), Each(static_cast<float>(size * (size - 1)) / 2));
  });
}

// What the watchdog does when a rank is lost: the others' calls end with an error instead of never.
TEST_F(NcclGroup, AbortEndsWhatIsUnderWay) {
  const int size = num_gpus();
  if (size < 2) GTEST_SKIP() << "one GPU only: no GPU found for a second rank";
  on_group(size, [](Group& group, int rank) {
    if (rank != 0) return;  // never arrives
    const DeviceFloats values(rank, {1});
    const WorkPtr work = group.all_reduce(values.tensor(), SLW_SUM);
    group.abort();
    EXPECT_THROW(work->wait(), CommError);
  });
}

}  // namespace
}  // namespace slipway
