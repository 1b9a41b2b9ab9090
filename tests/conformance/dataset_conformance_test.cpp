// What every dataset owes its host. Each case runs on every dataset component in build/lib/slipway/plugins; a dataset
// that cannot work with its defaults gets a row in `options_of`.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

constexpr int64_t kSeqLength = 16, kNumSamples = 40;

// A file of made-up text that lives as long as the process.
const std::string& text_file() {
  static const struct File {
    File() : path(std::filesystem::temp_directory_path() / ("slipway_conformance_" + std::to_string(::getpid()))) {
      std::ofstream out(path);
      for (int i = 0; i < 200; ++i) out << "Line " << i << " of a text that is made up.\n";
    }
    ~File() { std::filesystem::remove(path); }
    std::string path;
  } file;
  return file.path;
}

// The options that a dataset needs beside its defaults, as JSON text.
std::string options_of(const std::string& name) {
  nlohmann::json options = nlohmann::json::object();
  if (name == "text") options["paths"] = {text_file()};
  return options.dump();
}

class DatasetConformance : public ::testing::TestWithParam<Subject> {
 protected:
  const slw_component& component() const { return *GetParam().component; }
  const slw_dataset_vtable& table() const { return *static_cast<const slw_dataset_vtable*>(component().vtable); }
  std::unique_ptr<DatasetInstance> created() const {
    return std::make_unique<DatasetInstance>(component(), options_of(GetParam().name), kSeqLength);
  }
  std::unique_ptr<DatasetInstance> built() const {
    auto dataset = created();
    dataset->build({kNumSamples});
    return dataset;
  }
  // A create with arguments of the case's own. The caller destroys what comes out.
  slw_status create(const std::string& config, const slw_dataset_args& args, slw_dataset** out,
                    slw_error* error) const {
    return table().create(host_.get(), config.c_str(), &args, out, error);
  }
  static slw_dataset_args plain_args() {
    slw_dataset_args args = slw::make<slw_dataset_args>();
    args.seq_length = kSeqLength;
    args.seed = 1;
    return args;
  }

  ToyHost host_;
};

std::vector<int64_t> first_indices(int64_t count) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i) indices.push_back(i);
  return indices;
}

TEST_P(DatasetConformance, TableIsComplete) {
  EXPECT_GE(table().struct_size, SLW_SIZE_TO(slw_dataset_vtable, get));
  for (const void* slot :
       {reinterpret_cast<const void*>(table().create), reinterpret_cast<const void*>(table().destroy),
        reinterpret_cast<const void*>(table().info), reinterpret_cast<const void*>(table().fields),
        reinterpret_cast<const void*>(table().build), reinterpret_cast<const void*>(table().get)}) {
    EXPECT_NE(slot, nullptr);
  }
  EXPECT_EQ((table().flags & SLW_DS_NEEDS_PREPARE) != 0, table().prepare != nullptr);
}

TEST_P(DatasetConformance, OptionsExplainThemselves) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < component().num_options; ++i) {
    const slw_option& option = *component().options[i];
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_GT(std::string(option.help).size(), 5u) << option.name;
    for (const char* json : {option.default_json, option.min_json, option.max_json}) {
      EXPECT_TRUE(json == nullptr || nlohmann::json::accept(json)) << option.name << ": " << json;
    }
  }
}

TEST_P(DatasetConformance, VocabularyIsKnownBeforeBuild) {
  const auto dataset = created();
  EXPECT_GT(dataset->info().vocab_size, 0);
  EXPECT_LT(dataset->info().eod_id, dataset->info().vocab_size);
  EXPECT_EQ(dataset->info().size, -1);
}

TEST_P(DatasetConformance, FieldsHaveNamesAndShapes) {
  const auto dataset = created();
  std::set<std::string> names;
  for (const FieldSpec& field : dataset->fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_GT(field.dtype.bits, 0) << field.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_P(DatasetConformance, SameIndicesGiveTheSameBytes) {
  const auto one = built(), two = built();
  const std::vector<int64_t> indices{3, 0, 7, 3};
  EXPECT_EQ(one->get(indices), one->get(indices));
  EXPECT_EQ(one->get(indices), two->get(indices));
  EXPECT_EQ(one->info().size, two->info().size);
}

TEST_P(DatasetConformance, OrderOfCallsDoesNotMatter) {
  const auto forwards = built(), backwards = built();
  std::vector<Samples> samples;
  for (int64_t i = 0; i < 10; ++i) samples.push_back(forwards->get({i}));
  for (int64_t i = 9; i >= 0; --i) EXPECT_EQ(backwards->get({i}), samples[static_cast<std::size_t>(i)]) << i;
}

TEST_P(DatasetConformance, BatchIsTheSamplesOneAfterTheOther) {
  const auto dataset = built();
  const Samples batch = dataset->get({5, 1});
  const Samples first = dataset->get({5}), second = dataset->get({1});
  for (const auto& [name, bytes] : batch) {
    std::vector<unsigned char> expected = first.at(name);
    expected.insert(expected.end(), second.at(name).begin(), second.at(name).end());
    EXPECT_EQ(bytes, expected) << name;
  }
}

TEST_P(DatasetConformance, EightThreadsReadWhatOneReads) {
  if ((table().flags & SLW_DS_THREAD_SAFE) == 0) GTEST_SKIP() << "does not claim to be thread-safe";
  const auto dataset = built();
  std::vector<Samples> expected;
  for (int64_t i = 0; i < kNumSamples; ++i) expected.push_back(built()->get({i}));
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 4 * kNumSamples; ++i) {
        const int64_t index = (i * 7 + static_cast<int64_t>(t)) % kNumSamples;
        wrong[t] += dataset->get({index}) != expected[static_cast<std::size_t>(index)];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST_P(DatasetConformance, TokensAreInTheVocabulary) {
  const auto dataset = built();
  for (const FieldSpec& field : dataset->fields()) {
    if (field.name != "tokens" && field.name != "labels") continue;
    for (const int64_t id : dataset->get_i64(field.name, first_indices(kNumSamples))) {
      EXPECT_GE(id, 0);
      EXPECT_LT(id, dataset->info().vocab_size);
    }
  }
}

TEST_P(DatasetConformance, WritesNothingBesideItsOutputs) {
  const auto dataset = built();
  GetCall call(dataset->fields(), {1, 2, 3});
  ASSERT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_OK);
  EXPECT_TRUE(call.canaries_alive());
}

TEST_P(DatasetConformance, FieldsNotWantedMayBeNull) {
  const auto dataset = built();
  const Samples all = dataset->get({2, 4});
  for (std::size_t skipped = 0; skipped < dataset->fields().size(); ++skipped) {
    GetCall call(dataset->fields(), {2, 4});
    call.skip(skipped);
    ASSERT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_OK);
    Samples expected = all;
    expected[dataset->fields()[skipped].name] = call.samples()[dataset->fields()[skipped].name];
    EXPECT_EQ(call.samples(), expected);
  }
}

TEST_P(DatasetConformance, AnEmptyBatchIsFine) { EXPECT_NO_THROW(built()->get({})); }

TEST_P(DatasetConformance, IndexOutOfRangeIsAnErrorAndNotTheEnd) {
  const auto dataset = built();
  const Samples before = dataset->get({0});
  for (const int64_t index : {int64_t{-1}, dataset->info().size, INT64_MAX, INT64_MIN}) {
    GetCall call(dataset->fields(), {0, index});
    ErrorText error;
    EXPECT_EQ(table().get(dataset->handle(), &call.args(), error.get()), SLW_INVALID_ARGUMENT) << index;
    EXPECT_NE(error.text().find(std::to_string(index)), std::string::npos) << error.text();
    EXPECT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_INVALID_ARGUMENT) << "with a NULL error";
  }
  EXPECT_EQ(dataset->get({0}), before);
}

TEST_P(DatasetConformance, TinyErrorBuffersAreNotOverrun) {
  const auto dataset = built();
  GetCall call(dataset->fields(), {-1});
  for (uint32_t capacity = 0; capacity < 8; ++capacity) {
    std::string text(16, '#');
    slw_error error{slw::Known<slw_error>::kSize, SLW_OK, text.data(), capacity, 0};
    EXPECT_EQ(table().get(dataset->handle(), &call.args(), &error), SLW_INVALID_ARGUMENT);
    EXPECT_EQ(error.code, SLW_INVALID_ARGUMENT);
    EXPECT_GT(error.needed, 8u);
    EXPECT_EQ(text.substr(capacity), std::string(16 - capacity, '#'));
    EXPECT_TRUE(capacity == 0 || text.find('\0') < capacity);
  }
}

TEST_P(DatasetConformance, GetBeforeBuildIsAnError) {
  const auto dataset = created();
  GetCall call(dataset->fields(), {0});
  EXPECT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_PRECONDITION);
}

TEST_P(DatasetConformance, UnknownFlagsAreUnsupportedAndHintsAreNot) {
  const auto dataset = built();
  GetCall call(dataset->fields(), {0});
  call.args().flags = 1u << 13;
  EXPECT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_UNSUPPORTED);
  call.args().flags = 1u << 29;
  EXPECT_EQ(table().get(dataset->handle(), &call.args(), nullptr), SLW_OK);
  slw_dataset_args args = plain_args();
  args.flags = 1u << 13;
  slw_dataset* out = nullptr;
  EXPECT_EQ(create(complete_config(component(), options_of(GetParam().name)), args, &out, nullptr), SLW_UNSUPPORTED);
  EXPECT_EQ(out, nullptr);
}

// A host of a later minor: its structs are longer. What it does not use is zero.
TEST_P(DatasetConformance, LongerStructsAreReadWhenTheRestIsZero) {
  const auto dataset = built();
  GetCall call(dataset->fields(), {0});
  struct Longer {
    slw_get_args known;
    uint64_t appended;
  } longer{call.args(), 0};
  longer.known.struct_size = sizeof longer;
  EXPECT_EQ(table().get(dataset->handle(), &longer.known, nullptr), SLW_OK);
  longer.appended = 1;
  EXPECT_EQ(table().get(dataset->handle(), &longer.known, nullptr), SLW_UNSUPPORTED);
}

TEST_P(DatasetConformance, MalformedOptionsAreErrors) {
  if (component().num_options == 0) GTEST_SKIP() << "has no options";
  for (const char* config : {"", "{", "[]", "null", "{\"", "7"}) {
    slw_dataset* out = nullptr;
    ErrorText error;
    EXPECT_NE(create(config, plain_args(), &out, error.get()), SLW_OK) << config;
    EXPECT_EQ(out, nullptr);
    EXPECT_FALSE(error.text().empty());
  }
}

TEST_P(DatasetConformance, OptionsOfAnotherTypeAreNamed) {
  for (uint32_t i = 0; i < component().num_options; ++i) {
    nlohmann::json config = nlohmann::json::parse(complete_config(component(), options_of(GetParam().name)));
    config[component().options[i]->name] = {{"of", "another type"}};
    slw_dataset* out = nullptr;
    ErrorText error;
    EXPECT_EQ(create(config.dump(), plain_args(), &out, error.get()), SLW_INVALID_ARGUMENT);
    EXPECT_NE(error.text().find(component().options[i]->name), std::string::npos) << error.text();
    if (out != nullptr) table().destroy(out);
  }
}

TEST_P(DatasetConformance, LivesAHundredTimes) {
  for (int i = 0; i < 100; ++i) built()->get({0});
  EXPECT_EQ(host_.live_allocations(), 0);
}

TEST_P(DatasetConformance, SaysWhereSamplesComeFromIfItSaysSo) {
  if (!SLW_HAS_FN(&table(), slw_dataset_vtable, describe_sample)) GTEST_SKIP() << "has no describe_sample";
  const auto dataset = built();
  EXPECT_TRUE(nlohmann::json::parse(dataset->describe_sample(3)).is_object());
  EXPECT_EQ(table().describe_sample(dataset->handle(), -1, nullptr, 0, nullptr, nullptr), SLW_INVALID_ARGUMENT);
}

TEST_P(DatasetConformance, FingerprintIsStableIfThereIsOne) {
  if (!SLW_HAS_FN(&table(), slw_dataset_vtable, fingerprint)) GTEST_SKIP() << "has no fingerprint";
  EXPECT_FALSE(created()->fingerprint().empty());
  EXPECT_EQ(created()->fingerprint(), built()->fingerprint());
}

INSTANTIATE_TEST_SUITE_P(Every, DatasetConformance, ::testing::ValuesIn(built_components(SLW_KIND_DATASET)),
                         [](const auto& info) { return info.param.name; });

TEST(DatasetConformanceTable, HoldsTheFirstPartyDatasets) {
  std::set<std::string> names;
  for (const Subject& subject : built_components(SLW_KIND_DATASET)) names.insert(subject.name);
  for (const char* name : {"copy_task", "mock", "text"}) EXPECT_EQ(names.count(name), 1u) << name;
}

}  // namespace
