#include "core/config/fields.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/config/section.h"

namespace slipway {
namespace {

struct EveryType {
  bool flag = false;
  std::int64_t count = 3;
  double rate = 0.1;
  std::string name = "a";
  std::vector<std::string> words = {"x"};
  std::vector<std::int64_t> sizes;
  nlohmann::json raw = {{"k", 1}};
  std::optional<std::int64_t> maybe;
  std::optional<std::string> maybe_name = "n";

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("flag", self.flag, "A flag.", {.aliases = {"off=false"}});
    visit("count", self.count, "A count.", {.min = 1, .max = 9});
    visit("rate", self.rate, "A rate.");
    visit("name", self.name, "A name.", {.choices = {"a", "b"}, .is_path = true});
    visit("words", self.words, "Words.");
    visit("sizes", self.sizes, "Sizes.");
    visit("raw", self.raw, "Raw.");
    visit("maybe", self.maybe, "Perhaps.");
    visit("maybe_name", self.maybe_name, "Perhaps.");
  }
};

TEST(Fields, RowsHoldWhatTheLinesSay) {
  const std::vector<OptionSpec> rows = option_rows<EveryType>();
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[0].aliases, std::vector<std::string>{"off=false"});
  EXPECT_EQ(rows[1].name, "count");
  EXPECT_EQ(rows[1].type, OptionType::kInt);
  EXPECT_EQ(rows[1].default_json, "3");
  EXPECT_EQ(rows[1].min_json, "1");
  EXPECT_EQ(rows[1].max_json, "9");
  EXPECT_EQ(rows[1].help, "A count.");
  EXPECT_EQ(rows[2].default_json, "0.1");
  EXPECT_EQ(rows[2].min_json, "");
  EXPECT_TRUE(rows[3].is_path);
  EXPECT_EQ(rows[4].type, OptionType::kStringList);
  EXPECT_EQ(rows[5].default_json, "[]");
  EXPECT_EQ(rows[6].type, OptionType::kJson);
  EXPECT_EQ(rows[7].default_json, "null");
  EXPECT_TRUE(rows[8].nullable);
  EXPECT_EQ(rows[8].default_json, "\"n\"");
  EXPECT_NO_THROW(check_option_table(rows, "EveryType"));
}

TEST(Fields, WhatIsWrittenIsReadBackBitForBit) {
  EveryType config;
  config.flag = true;
  config.rate = 0.1 + 0.2;
  config.sizes = {1, std::numeric_limits<std::int64_t>::min()};
  config.maybe = 7;
  config.maybe_name.reset();
  const std::string text = write_config(config).dump();
  const auto back = read_config<EveryType>(nlohmann::json::parse(text));
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.rate, 0.1 + 0.2);
  EXPECT_EQ(back.sizes, config.sizes);
  EXPECT_EQ(back.maybe, 7);
  EXPECT_EQ(back.maybe_name, std::nullopt);
  EXPECT_EQ(write_config(back).dump(), text);
}

TEST(Fields, CompleteOptionsOfNothingAreTheDefaults) {
  const nlohmann::json complete =
      complete_options(option_rows<EveryType>(), nlohmann::json::object(), {"run.json", "x"});
  EXPECT_EQ(complete, write_config(EveryType{}));
}

TEST(Fields, IncompleteObjectIsOurBug) {
  EXPECT_THROW(read_config<EveryType>(nlohmann::json::object()), std::logic_error);
}

}  // namespace
}  // namespace slipway
