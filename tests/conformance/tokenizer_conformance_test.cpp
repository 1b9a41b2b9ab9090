// What every tokenizer owes its host. Each case runs on every tokenizer component in build/lib/slipway/plugins.
#include <gtest/gtest.h>
#include <slipway/tokenizer.h>

#include <numeric>
#include <thread>

#include "tests/plugin/loaded_plugin.h"
#include "tests/plugin/toy_host.h"

namespace {

class TokenizerConformance : public ::testing::TestWithParam<Subject> {
 protected:
  TokenizerConformance() { tokenizer_ = created(); }
  ~TokenizerConformance() override { table().destroy(tokenizer_); }

  const slw_tokenizer_vtable& table() const {
    return *static_cast<const slw_tokenizer_vtable*>(GetParam().component->vtable);
  }
  slw_tokenizer* created() const {
    slw_tokenizer* made = nullptr;
    ErrorText error;
    const std::string config = complete_config(*GetParam().component, "{}");
    EXPECT_EQ(table().create(host_.get(), config.c_str(), &made, error.get()), SLW_OK) << error.text();
    return made;
  }
  slw_tokenizer_info info() const {
    slw_tokenizer_info info{};
    info.struct_size = SLW_SIZE_TO(slw_tokenizer_info, mask_id);
    ErrorText error;
    EXPECT_EQ(table().info(tokenizer_, &info, error.get()), SLW_OK) << error.text();
    return info;
  }
  std::vector<int64_t> encode(const std::string& text) const {
    std::vector<int64_t> ids(2 * text.size() + 16);
    uint64_t needed = 0;
    ErrorText error;
    EXPECT_EQ(table().encode(tokenizer_, text.data(), text.size(), ids.data(), ids.size(), &needed, error.get()),
              SLW_OK)
        << error.text();
    EXPECT_LE(needed, ids.size());
    ids.resize(needed);
    return ids;
  }
  std::string decode(const std::vector<int64_t>& ids) const {
    std::string text(64 * ids.size() + 16, '\0');
    uint64_t needed = 0;
    ErrorText error;
    EXPECT_EQ(table().decode(tokenizer_, ids.data(), ids.size(), text.data(), text.size(), &needed, error.get()),
              SLW_OK)
        << error.text();
    text.resize(needed);
    return text;
  }

  ToyHost host_;
  slw_tokenizer* tokenizer_;
};

std::string every_byte() {
  std::string bytes(256, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

TEST_P(TokenizerConformance, GivesBackWhatItWasGiven) {
  for (const std::string& text : {std::string("The quick brown fox.\n"), std::string("a\xc3\xa4\xe6\x96\x87"),
                                  std::string(), std::string("\0mid\0", 5), every_byte()}) {
    EXPECT_EQ(decode(encode(text)), text);
  }
}

TEST_P(TokenizerConformance, IdsAreInTheVocabularyAndNotSpecial) {
  const slw_tokenizer_info about = info();
  EXPECT_GE(about.vocab_size, 1);
  const int64_t special[] = {about.eod_id, about.pad_id, about.cls_id, about.sep_id, about.mask_id};
  for (const int64_t id : special) {
    EXPECT_GE(id, -1);
    EXPECT_LT(id, about.vocab_size);
    if (id >= 0) {
      EXPECT_EQ(decode({id}), "");
    }
  }
  for (const int64_t id : encode(every_byte() + "<|endoftext|> [MASK] </s>")) {
    EXPECT_TRUE(id >= 0 && id < about.vocab_size) << id;
    for (const int64_t other : special) EXPECT_NE(id, other);
  }
}

TEST_P(TokenizerConformance, TextsMayBeCutBetweenIds) {
  const std::vector<int64_t> ids = encode("one two three, na\xc3\xafve");
  for (size_t cut = 0; cut <= ids.size(); ++cut) {
    const auto middle = ids.begin() + static_cast<int64_t>(cut);
    EXPECT_EQ(decode({ids.begin(), middle}) + decode({middle, ids.end()}), "one two three, na\xc3\xafve");
  }
}

TEST_P(TokenizerConformance, TellsWhatItNeedsAndWritesNoMore) {
  const std::string text = "twelve bytes";
  const size_t full = encode(text).size();
  uint64_t needed = 0;
  ErrorText error;
  EXPECT_EQ(table().encode(tokenizer_, text.data(), text.size(), nullptr, 0, &needed, error.get()), SLW_OK);
  EXPECT_EQ(needed, full);
  std::vector<int64_t> ids(full + 1, -7);
  EXPECT_EQ(table().encode(tokenizer_, text.data(), text.size(), ids.data(), full - 1, &needed, error.get()), SLW_OK);
  EXPECT_EQ(needed, full);
  EXPECT_EQ(ids[full - 1], -7);
  char bytes[3] = {'x', 'x', 'x'};
  ids = encode(text);
  EXPECT_EQ(table().decode(tokenizer_, ids.data(), ids.size(), bytes, 2, &needed, error.get()), SLW_OK);
  EXPECT_EQ(needed, text.size());
  EXPECT_EQ(std::string(bytes, 3), "twx");
}

TEST_P(TokenizerConformance, RefusesIdsOutsideTheVocabulary) {
  for (const int64_t id : {int64_t{-1}, info().vocab_size, INT64_MAX, INT64_MIN}) {
    uint64_t needed = 0;
    char bytes[8];
    ErrorText error;
    EXPECT_EQ(table().decode(tokenizer_, &id, 1, bytes, sizeof bytes, &needed, error.get()), SLW_INVALID_ARGUMENT);
    EXPECT_NE(error.text().find(std::to_string(id)), std::string::npos) << error.text();
  }
}

TEST_P(TokenizerConformance, InstancesAreIndependentAndCallsMayOverlap) {
  slw_tokenizer* other = created();
  EXPECT_NE(other, tokenizer_);
  table().destroy(other);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string text(100, static_cast<char>('a' + t));
      for (int i = 0; i < 100; ++i) EXPECT_EQ(decode(encode(text)), text);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Built, TokenizerConformance, ::testing::ValuesIn(built_components(SLW_KIND_TOKENIZER)),
                         [](const auto& subject) { return subject.param.name; });

}  // namespace
