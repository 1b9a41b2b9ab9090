#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const slw_component& text() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_text.so"), SLW_KIND_DATASET, "text");
}

class Text : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("slipway_text_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return (folder_ / name).string();
  }
  // `count` bytes 0, 1, 2 ... modulo 256.
  static std::string counting(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(i % 256));
    return bytes;
  }
  static std::string config(const std::vector<std::string>& paths, const std::string& more = "{}") {
    nlohmann::json json = nlohmann::json::parse(more);
    json["paths"] = paths;
    return json.dump();
  }
  static std::string error_of(const std::string& config, const BuildRange& range, slw_status expected) {
    try {
      DatasetInstance dataset(text(), config, 8);
      dataset.build(range);
    } catch (const CallFailed& e) {
      EXPECT_EQ(e.status(), expected);
      return e.what();
    }
    return "(no error)";
  }

  std::filesystem::path folder_;
};

TEST_F(Text, WindowsCoverTheTextOnceAnEpoch) {
  DatasetInstance dataset(text(), config({file("a", counting(100))}), 8);
  dataset.build({1});
  EXPECT_EQ(dataset.info().vocab_size, 256);
  ASSERT_EQ(dataset.info().size, 12) << "99 labels in windows of 8";
  std::multiset<int64_t> starts;
  for (int64_t i = 0; i < 12; ++i) {
    const auto tokens = dataset.get_i64("tokens", {i}), labels = dataset.get_i64("labels", {i});
    starts.insert(tokens[0]);
    for (int64_t t = 0; t < 8; ++t) {
      EXPECT_EQ(tokens[static_cast<std::size_t>(t)], tokens[0] + t);
      EXPECT_EQ(labels[static_cast<std::size_t>(t)], tokens[0] + t + 1);
    }
  }
  EXPECT_THAT(starts, ElementsAre(0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88));
}

// numpy.random.RandomState(1234 + e).shuffle(numpy.arange(5)) for e = 0, 1.
TEST_F(Text, EpochsAreInNumpysOrder) {
  DatasetInstance dataset(text(), config({file("a", counting(41))}, R"({"epochs": 2})"), 8);
  dataset.build({1});
  ASSERT_EQ(dataset.info().size, 10);
  EXPECT_EQ(dataset.info().tokens_per_epoch, 40);
  std::vector<int64_t> windows;
  for (int64_t i = 0; i < 10; ++i) windows.push_back(dataset.get_i64("tokens", {i})[0] / 8);
  EXPECT_THAT(windows, ElementsAre(4, 0, 1, 2, 3, 0, 1, 4, 2, 3));
}

TEST_F(Text, OrderDoesNotDependOnHowMuchIsAsked) {
  const std::string path = file("a", counting(200));
  DatasetInstance few(text(), config({path}, R"({"epochs": 0})"), 8),
      many(text(), config({path}, R"({"epochs": 0})"), 8);
  few.build({10});
  many.build({1000});
  EXPECT_GE(few.info().size, 10);
  EXPECT_GE(many.info().size, 1000);
  for (int64_t i = 0; i < few.info().size; ++i) EXPECT_EQ(few.get({i}), many.get({i}));
}

TEST_F(Text, BoundedEpochsBoundTheTrainingSplitOnly) {
  const std::string two_epochs = config({file("a", counting(200))}, R"({"epochs": 2})");
  DatasetInstance train(text(), two_epochs, 8), valid(text(), two_epochs, 8);
  train.build({1000});
  valid.build({1000, 0.5, 1, SLW_SPLIT_VALID});
  EXPECT_EQ(train.info().size, 2 * 24);
  EXPECT_GE(valid.info().size, 1000);
}

TEST_F(Text, FilesAreOneText) {
  DatasetInstance dataset(text(), config({file("a", "abcd"), file("b", "efghi")}), 8);
  dataset.build({1});
  ASSERT_EQ(dataset.info().size, 1);
  EXPECT_EQ(dataset.info().eod_id, -1);
  EXPECT_THAT(dataset.get_i64("labels", {0}), ElementsAre('b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'));
}

TEST_F(Text, DocumentBoundariesEndEachFile) {
  const std::string with = config({file("a", "abcd"), file("b", "efg")}, R"({"document_boundaries": true})");
  DatasetInstance dataset(text(), with, 8);
  dataset.build({1});
  EXPECT_EQ(dataset.info().vocab_size, 257);
  EXPECT_EQ(dataset.info().eod_id, 256);
  EXPECT_THAT(dataset.get_i64("tokens", {0}), ElementsAre('a', 'b', 'c', 'd', 256, 'e', 'f', 'g'));
  EXPECT_EQ(dataset.get_i64("labels", {0}).back(), 256);
}

TEST_F(Text, BytesAboveAsciiAreUnsigned) {
  DatasetInstance dataset(text(), config({file("a", "\xc3\xa9\xff\x80zzzzzz")}), 8);
  dataset.build({1});
  const auto tokens = dataset.get_i64("tokens", {0});
  EXPECT_THAT(std::vector<int64_t>(tokens.begin(), tokens.begin() + 4), ElementsAre(0xC3, 0xA9, 0xFF, 0x80));
}

TEST_F(Text, SplitsShareNoToken) {
  const std::string path = file("a", counting(250));
  std::set<int64_t> seen;
  std::size_t total = 0;
  const BuildRange ranges[] = {
      {1, 0, 0.7, SLW_SPLIT_TRAIN}, {1, 0.7, 0.9, SLW_SPLIT_VALID}, {1, 0.9, 1, SLW_SPLIT_TEST}};
  for (const BuildRange& range : ranges) {
    DatasetInstance dataset(text(), config({path}), 8);
    dataset.build(range);
    const int64_t windows = dataset.info().tokens_per_epoch / 8;
    for (int64_t i = 0; i < windows; ++i) {
      auto tokens = dataset.get_i64("tokens", {i});
      tokens.push_back(dataset.get_i64("labels", {i}).back());
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        EXPECT_GE(static_cast<double>(tokens[t]), range.begin * 250 - 0.5);
        EXPECT_LT(static_cast<double>(tokens[t]), range.end * 250 + 0.5);
        if (t < 8) seen.insert(tokens[t]);
      }
      total += 8;
    }
  }
  EXPECT_EQ(seen.size(), total);
}

TEST_F(Text, SaysWhereASampleComesFrom) {
  const std::string a = file("a", "abcd"), b = file("b", "efghi");
  DatasetInstance dataset(text(), config({a, b}), 8);
  dataset.build({1});
  const nlohmann::json where = nlohmann::json::parse(dataset.describe_sample(0));
  EXPECT_EQ(where["epoch"], 0);
  ASSERT_EQ(where["pieces"].size(), 2u);
  EXPECT_EQ(where["pieces"][0], (nlohmann::json{{"file", a}, {"offset", 0}, {"length", 4}}));
  EXPECT_EQ(where["pieces"][1], (nlohmann::json{{"file", b}, {"offset", 0}, {"length", 5}}));
  EXPECT_THROW(dataset.describe_sample(1), CallFailed);
}

TEST_F(Text, FingerprintFollowsTheContent) {
  const auto print = [&](const std::vector<std::string>& paths) {
    return DatasetInstance(text(), config(paths), 8).fingerprint();
  };
  const std::string a = file("a", "0123456789abcdef"), same = file("b", "0123456789abcdef");
  const std::string other = file("c", "0123456789abcdeF"), shorter = file("d", "0123456789");
  EXPECT_EQ(print({a}), print({same}));
  EXPECT_NE(print({a}), print({other}));
  EXPECT_NE(print({a}), print({shorter}));
  EXPECT_NE(print({a, shorter}), print({shorter, a}));
  EXPECT_THAT(print({a, shorter}), HasSubstr("files 2 bytes 26"));
}

TEST_F(Text, OnePathMayStandAlone) {
  DatasetInstance dataset(text(), nlohmann::json{{"paths", file("a", counting(9))}}.dump(), 8);
  dataset.build({1});
  EXPECT_EQ(dataset.info().size, 1);
}

TEST_F(Text, MissingFileIsNamed) {
  const std::string path = (folder_ / "nowhere.txt").string();
  EXPECT_THAT(error_of(config({path}), {1}, SLW_IO), AllOf(HasSubstr(path), HasSubstr("No such file")));
}

TEST_F(Text, EmptyFileIsNamed) {
  const std::string path = file("empty", "");
  EXPECT_THAT(error_of(config({file("a", counting(100)), path}), {1}, SLW_INVALID_ARGUMENT),
              AllOf(HasSubstr(path), HasSubstr("is empty")));
}

TEST_F(Text, FolderIsNamed) {
  EXPECT_THAT(error_of(config({folder_.string()}), {1}, SLW_INVALID_ARGUMENT),
              AllOf(HasSubstr(folder_.string()), HasSubstr("is a folder")));
}

TEST_F(Text, DeviceIsRefused) {
  EXPECT_THAT(error_of(config({"/dev/null"}), {1}, SLW_INVALID_ARGUMENT), HasSubstr("not a regular file"));
}

TEST_F(Text, NoPathsAreRefused) {
  EXPECT_THAT(error_of(config({}), {1}, SLW_INVALID_ARGUMENT), HasSubstr("'paths' names no file"));
  EXPECT_THAT(error_of(R"({"paths": [1]})", {1}, SLW_INVALID_ARGUMENT), HasSubstr("'paths'"));
}

TEST_F(Text, TooShortATextSaysTheNumbersAndWhatToDo) {
  EXPECT_THAT(
      error_of(config({file("a", counting(8))}), {1}, SLW_INVALID_ARGUMENT),
      AllOf(HasSubstr("training split has 8 of 8 tokens"), HasSubstr("seq_length + 1 = 9"), HasSubstr("smaller")));
  EXPECT_THAT(error_of(config({file("b", counting(100))}), {1, 0.95, 1, SLW_SPLIT_TEST}, SLW_INVALID_ARGUMENT),
              HasSubstr("test split has 5 of 100 tokens"));
  EXPECT_EQ(error_of(config({file("c", counting(9))}), {1}, SLW_INVALID_ARGUMENT), "(no error)");
}

}  // namespace
