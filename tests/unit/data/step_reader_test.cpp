#include "core/data/step_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "core/plugin_host/registry.h"

namespace slipway {
namespace {

// 64 made-up samples of 16 tokens.
class StepReaderTest : public testing::Test {
 protected:
  StepReaderTest() {
    const slw_dataset_args args{SLW_SIZE_TO(slw_dataset_args, cache_dir), 0, 16, 7, nullptr};
    dataset_ = std::make_unique<HostDataset>(registry_.find(SLW_KIND_DATASET, "mock"), host_,
                                             R"({"vocab_size": 250, "noise": 0.1})", args);
    slw_build_args build{};
    build.struct_size = SLW_SIZE_TO(slw_build_args, num_samples);
    build.split_end = 1;
    build.num_samples = 64;
    dataset_->build(build);
  }

  // The tokens of all rows of a step, batch after batch.
  static std::vector<int64_t> tokens(const std::vector<const HostBatch*>& batches) {
    std::vector<int64_t> all;
    for (const HostBatch* batch : batches) {
      const slw_tensor* field = batch->field("tokens");
      const auto* values = static_cast<const int64_t*>(field->data);
      all.insert(all.end(), values, values + field->shape[0] * field->shape[1]);
    }
    return all;
  }

  Reporter silent_{-1};
  PluginRegistry registry_{{std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/lib/slipway/plugins"}, "", silent_};
  Host host_{Host::Services{}};
  std::unique_ptr<HostDataset> dataset_;
};

TEST_F(StepReaderTest, ReadingAheadWithAnyNumberOfThreadsGivesTheSameBytes) {
  const SamplerGrid grid{2, 2, 1};
  StepReader plain(*dataset_, grid, 0), one(*dataset_, grid, 1), eight(*dataset_, grid, 8);
  for (int64_t consumed = 0; consumed + 24 <= 64; consumed += 12) {
    const StepRange now{consumed, 3}, next{consumed + 12, 3};
    const std::vector<int64_t> expected = tokens(plain.read(now));
    EXPECT_EQ(tokens(one.read(now, next)), expected);
    EXPECT_EQ(tokens(eight.read(now, next)), expected);
    EXPECT_THAT(eight.read(now)[0]->sample_ids(), testing::ElementsAre(consumed + 2, consumed + 3));
  }
}

TEST_F(StepReaderTest, WhatWasAnnouncedNeedNotCome) {
  const SamplerGrid grid{4, 1, 0};
  StepReader plain(*dataset_, grid, 0), ahead(*dataset_, grid, 2);
  ahead.read({0, 2}, StepRange{8, 2});
  EXPECT_EQ(tokens(ahead.read({40, 1}, StepRange{44, 3})), tokens(plain.read({40, 1})));
  EXPECT_EQ(tokens(ahead.read({44, 3})), tokens(plain.read({44, 3})));
}

TEST_F(StepReaderTest, TheEndOfTheDataIsAnErrorOfTheStepThatNeedsMore) {
  StepReader reader(*dataset_, {4, 1, 0}, 2);
  EXPECT_NO_THROW(reader.read({56, 2}, StepRange{64, 2}));
  try {
    reader.read({64, 2});
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("64 samples, the next step needs 72"));
  }
}

}  // namespace
}  // namespace slipway
