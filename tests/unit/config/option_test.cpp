#include "core/config/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

OptionSpec option(OptionType type) {
  OptionSpec row;
  row.name = "x";
  row.type = type;
  row.default_json = type == OptionType::kJson ? "[]" : "";
  return row;
}

std::string complaint(const OptionSpec& row, const json& value) {
  return message_of([&] { checked_value(row, value, "run.json: train.x"); });
}

std::string flag_complaint(const OptionSpec& row, const std::string& text) {
  return message_of([&] { value_of_text(row, text, "command line: --x"); });
}

TEST(Option, WrongTypeTellsValueAndWhatIsAllowed) {
  EXPECT_EQ(complaint(option(OptionType::kInt), "8"), "run.json: train.x is \"8\" (a string); allowed: an integer");
  EXPECT_EQ(complaint(option(OptionType::kInt), 8.0), "run.json: train.x is 8.0 (a number); allowed: an integer");
  EXPECT_EQ(complaint(option(OptionType::kBool), 1), "run.json: train.x is 1 (an integer); allowed: true or false");
  EXPECT_EQ(complaint(option(OptionType::kString), nullptr), "run.json: train.x is null; allowed: a string");
  EXPECT_THAT(complaint(option(OptionType::kFloat), "1"), HasSubstr("allowed: a number"));
  EXPECT_THAT(complaint(option(OptionType::kStringList), json::array({1})), HasSubstr("allowed: a list of strings"));
  EXPECT_THAT(complaint(option(OptionType::kIntList), json::array({1.5})), HasSubstr("allowed: a list of integers"));
  EXPECT_THAT(complaint(option(OptionType::kInt), std::numeric_limits<std::uint64_t>::max()), HasSubstr("allowed"));
}

TEST(Option, IntegerIsANumberAndStaysExact) {
  EXPECT_EQ(checked_value(option(OptionType::kFloat), 1, "w").dump(), "1.0");
  EXPECT_EQ(checked_value(option(OptionType::kInt), std::numeric_limits<std::int64_t>::min(), "w"),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value_of_text(option(OptionType::kInt), "9223372036854775807", "w"),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Option, RangeIsInclusiveAndInTheMessage) {
  OptionSpec row = option(OptionType::kFloat);
  row.min_json = "0";
  row.max_json = "1";
  EXPECT_EQ(checked_value(row, 0, "w"), 0.0);
  EXPECT_EQ(checked_value(row, 1.0, "w"), 1.0);
  EXPECT_EQ(complaint(row, 1.5), "run.json: train.x is 1.5 (a number); allowed: a number, 0 to 1");
  row.max_json.clear();
  EXPECT_EQ(complaint(row, -1), "run.json: train.x is -1 (an integer); allowed: a number, 0 or more");
  OptionSpec list = option(OptionType::kIntList);
  list.max_json = "3";
  EXPECT_THAT(complaint(list, {1, 4}), HasSubstr("4 (an integer); allowed: a list of integers, at most 3"));
}

TEST(Option, ChoicesAreListedAndTheNearestOffered) {
  OptionSpec row = option(OptionType::kString);
  row.choices = {"token", "microbatch"};
  EXPECT_EQ(checked_value(row, "token", "w"), "token");
  EXPECT_EQ(
      complaint(row, "tokn"),
      "run.json: train.x is \"tokn\" (a string); did you mean \"token\"? allowed: one of \"token\", \"microbatch\"");
  EXPECT_EQ(complaint(row, ""), "run.json: train.x is \"\" (a string); allowed: one of \"token\", \"microbatch\"");
  OptionSpec number = option(OptionType::kInt);
  number.choices = {"16", "32"};
  EXPECT_EQ(checked_value(number, 16, "w"), 16);
  EXPECT_THAT(complaint(number, 8), HasSubstr("allowed: one of 16, 32"));
}

TEST(Option, NullOnlyWhereItIsAllowed) {
  OptionSpec row = option(OptionType::kInt);
  EXPECT_THAT(flag_complaint(row, "null"), HasSubstr("allowed: an integer"));
  row.default_json = "null";
  EXPECT_TRUE(checked_value(row, nullptr, "w").is_null());
  EXPECT_TRUE(value_of_text(row, "null", "w").is_null());
  EXPECT_THAT(complaint(row, "a"), HasSubstr("allowed: an integer, or null"));
  row.default_json = "5";
  row.nullable = true;
  EXPECT_TRUE(checked_value(row, nullptr, "w").is_null());
}

TEST(Option, FlagTextIsReadWhole) {
  EXPECT_EQ(value_of_text(option(OptionType::kFloat), "3e-4", "w"), 3e-4);
  EXPECT_EQ(value_of_text(option(OptionType::kInt), "-7", "w"), -7);
  EXPECT_EQ(value_of_text(option(OptionType::kBool), "true", "w"), true);
  EXPECT_EQ(value_of_text(option(OptionType::kString), "1", "w"), "1");
  EXPECT_EQ(flag_complaint(option(OptionType::kInt), "7x"), "command line: --x is \"7x\"; allowed: an integer");
  for (const char* text : {"", "1.5.2", "nan", "inf", "1e999", " 1"}) {
    EXPECT_THAT(flag_complaint(option(OptionType::kFloat), text), HasSubstr("allowed: a number")) << text;
  }
  EXPECT_THAT(flag_complaint(option(OptionType::kBool), "1"), HasSubstr("allowed: true or false"));
}

TEST(Option, ListsAreCommaSeparatedOrJson) {
  EXPECT_EQ(value_of_text(option(OptionType::kStringList), "a, b", "w"), json({"a", "b"}));
  EXPECT_EQ(value_of_text(option(OptionType::kStringList), "[\"a,b\"]", "w"), json({"a,b"}));
  EXPECT_EQ(value_of_text(option(OptionType::kIntList), "1,2", "w"), json({1, 2}));
  EXPECT_EQ(value_of_text(option(OptionType::kIntList), "", "w"), json::array());
  EXPECT_THAT(flag_complaint(option(OptionType::kIntList), "1,x"), HasSubstr("\"x\"; allowed: a list of integers"));
  EXPECT_THAT(flag_complaint(option(OptionType::kIntList), "[1"), HasSubstr("command line: --x:1:3: not valid JSON"));
}

TEST(Option, RawValuesAreGuessedByTheirLook) {
  OptionSpec row = option(OptionType::kJson);
  EXPECT_EQ(value_of_text(row, "a.txt", "w"), json({"a.txt"}));
  EXPECT_EQ(value_of_text(row, "0.3,a,true", "w"), json({0.3, "a", true}));
  EXPECT_EQ(value_of_text(row, "{\"a\": [1]}", "w"), json({{"a", {1}}}));
  EXPECT_EQ(value_of_text(row, "", "w"), json::array());
  row.is_path = true;
  EXPECT_EQ(value_of_text(row, "1,2", "w"), json({"1", "2"}));
  row.is_path = false;
  row.default_json = "1";
  EXPECT_EQ(value_of_text(row, "5", "w"), 5);
}

}  // namespace
}  // namespace slipway
