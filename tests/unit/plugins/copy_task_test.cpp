#include <gtest/gtest.h>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

const slw_component& copy_task() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_copy_task.so"), SLW_KIND_DATASET, "copy_task");
}

TEST(CopyTask, SecondHalfRepeatsTheFirst) {
  DatasetInstance dataset(copy_task(), R"({"vocab_size": 20})", 16);
  dataset.build({100});
  EXPECT_EQ(dataset.info().vocab_size, 20);
  const auto tokens = dataset.get_i64("tokens", {42}), labels = dataset.get_i64("labels", {42});
  for (std::size_t t = 0; t < 8; ++t) EXPECT_EQ(tokens[t], tokens[t + 8]);
  for (std::size_t t = 0; t + 1 < 16; ++t) EXPECT_EQ(labels[t], tokens[t + 1]);
  EXPECT_NE(dataset.get_i64("tokens", {43}), tokens);
}

TEST(CopyTask, OnlyWhatCanBeKnownCounts) {
  DatasetInstance dataset(copy_task(), "{}", 4);
  dataset.build({1});
  const std::vector<unsigned char> bytes = dataset.get({0}).at("loss_mask");
  const auto* mask = reinterpret_cast<const float*>(bytes.data());
  EXPECT_EQ(std::vector<float>(mask, mask + 4), (std::vector<float>{0, 1, 1, 1}));
}

TEST(CopyTask, OddSequenceLengthIsAnErrorWithTheNumber) {
  try {
    DatasetInstance dataset(copy_task(), "{}", 7);
    FAIL();
  } catch (const CallFailed& e) {
    EXPECT_EQ(e.status(), SLW_INVALID_ARGUMENT);
    EXPECT_STREQ(e.what(), "copy_task: seq_length is 7, it has to be even and at least 2");
  }
}

}  // namespace
