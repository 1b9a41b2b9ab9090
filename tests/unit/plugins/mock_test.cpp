#include <gtest/gtest.h>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

const slw_component& mock() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_mock.so"), SLW_KIND_DATASET, "mock");
}

TEST(Mock, DefaultVocabularyIs250) {
  const DatasetInstance dataset(mock(), "{}", 32);
  EXPECT_EQ(dataset.info().vocab_size, 250);
  EXPECT_EQ(dataset.info().eod_id, -1);
  EXPECT_EQ(dataset.info().size, -1);
}

TEST(Mock, HasAsManySamplesAsAreAskedFor) {
  DatasetInstance dataset(mock(), "{}", 8);
  dataset.build({int64_t{1} << 40});
  EXPECT_EQ(dataset.info().size, int64_t{1} << 40);
  EXPECT_NE(dataset.get({0}), dataset.get({(int64_t{1} << 40) - 1}));
  EXPECT_NE(dataset.get({0}), dataset.get({int64_t{1} << 32}));
}

TEST(Mock, LabelsAreTheNextTokens) {
  DatasetInstance dataset(mock(), R"({"vocab_size": 11})", 16);
  dataset.build({4});
  const auto tokens = dataset.get_i64("tokens", {2}), labels = dataset.get_i64("labels", {2});
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) EXPECT_EQ(labels[t], tokens[t + 1]);
  for (const int64_t token : tokens) {
    EXPECT_GE(token, 0);
    EXPECT_LT(token, 11);
  }
  EXPECT_EQ(dataset.get_i64("position_ids", {2})[15], 15);
}

TEST(Mock, FollowsItsRuleAsOftenAsNoiseSays) {
  for (const auto& [config, low, high] :
       {std::tuple{R"({"noise": 0})", 1.0, 1.0}, {R"({"noise": 0.1})", 0.88, 0.92}, {R"({"noise": 1})", 0.0, 0.02}}) {
    DatasetInstance dataset(mock(), config, 20000);
    dataset.build({1});
    const auto tokens = dataset.get_i64("tokens", {0}), labels = dataset.get_i64("labels", {0});
    int64_t followed = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) followed += labels[t] == (tokens[t] + 7) % 250;
    const double share = static_cast<double>(followed) / static_cast<double>(tokens.size());
    EXPECT_GE(share, low) << config;
    EXPECT_LE(share, high) << config;
  }
}

TEST(Mock, SeedAndSplitGiveOtherSamples) {
  DatasetInstance one(mock(), "{}", 16, 1), two(mock(), "{}", 16, 2), valid(mock(), "{}", 16, 1);
  one.build({4});
  two.build({4});
  valid.build({4, 0, 1, SLW_SPLIT_VALID});
  EXPECT_NE(one.get({0}), two.get({0}));
  EXPECT_NE(one.get({0}), valid.get({0}));
}

TEST(Mock, ImpossibleSequenceLengthIsAnError) { EXPECT_THROW(DatasetInstance(mock(), "{}", 0), CallFailed); }

}  // namespace
