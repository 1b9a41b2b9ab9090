// The memory that the gpt model says it keeps from forward to backward, against what LibTorch's allocator counts.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "tests/conformance/model/subjects.h"

namespace slipway {
namespace {

// Counts live bytes. Memory is its own context, as LibTorch's raw_allocate (oneDNN's workspaces) wants it.
class CountingAllocator : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::Device(c10::kCPU)};
    void* data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    SLW_CHECK(data != nullptr);
    const std::lock_guard lock(mutex);
    sizes[data] = static_cast<int64_t>(bytes);
    live_bytes += static_cast<int64_t>(bytes);
    return {data, data, &release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

  static inline int64_t live_bytes = 0;

 private:
  static void release(void* data) {
    const std::lock_guard lock(mutex);
    const auto found = sizes.find(data);
    if (found != sizes.end()) live_bytes -= found->second;
    if (found != sizes.end()) sizes.erase(found);
    std::free(data);
  }
  static inline std::mutex mutex;
  static inline std::unordered_map<void*, int64_t> sizes;
};

class GptMemory : public testing::TestWithParam<Subject> {
 protected:
  static void SetUpTestSuite() {
    static CountingAllocator counter;
    c10::SetCPUAllocator(&counter, 255);
  }
};

ModelBatch zeros(const ModelSetup& setup) {
  const auto count = static_cast<std::size_t>(setup.batch_size * setup.seq_length);
  ModelBatch batch;
  batch.batch_size = setup.batch_size;
  batch.seq_length = setup.seq_length;
  batch.tokens.assign(count, 0);
  batch.labels.assign(count, 0);
  batch.loss_mask.assign(count, 1.0f);
  batch.sample_ids.assign(static_cast<std::size_t>(setup.batch_size), 0);
  return batch;
}

TEST_P(GptMemory, KeepsWhatCostSays) {
  ModelSetup setup = setup_of(GetParam());
  setup.batch_size = 3;
  setup.seq_length = 64;
  setup.vocab_size = 200;
  setup.padded_vocab_size = 256;
  for (const int stages : {1, 2}) {
    setup.num_stages = stages;
    ModelHarness model(setup);
    model.initialize();
    model.forward(zeros(setup), {});  // what LibTorch caches for good is there from now on
    model.backward(0, 1.0);
    int64_t said = 0;
    for (int i = 0; i < stages; ++i) said += model.cost(i).saved_bytes;
    const int64_t before = CountingAllocator::live_bytes;
    model.forward(zeros(setup), {});
    const int64_t kept = CountingAllocator::live_bytes - before;
    EXPECT_NEAR(static_cast<double>(said), static_cast<double>(kept), 0.1 * static_cast<double>(kept)) << stages;
    model.backward(0, 1.0);
    EXPECT_EQ(CountingAllocator::live_bytes, before) << "something is held beyond backward";
    model.forward(zeros(setup), {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, false});
    EXPECT_EQ(CountingAllocator::live_bytes, before) << "a pass without backward keeps something";
    model.forward(zeros(setup), {});
    model.discard(0);
    EXPECT_EQ(CountingAllocator::live_bytes, before) << "discard leaves something";
  }
}

std::vector<Subject> gpts() {
  std::vector<Subject> all = subjects();
  all.erase(all.begin());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Of, GptMemory, testing::ValuesIn(gpts()),
                         [](const testing::TestParamInfo<Subject>& info) { return info.param.title; });

}  // namespace
}  // namespace slipway
