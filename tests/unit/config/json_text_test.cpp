#include "core/config/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string complaint(const std::string& text) {
  return message_of([&] { parse_json(text, "run.json"); });
}

TEST(JsonText, CommentsAreAllowed) {
  EXPECT_EQ(parse_json("// why\n{\"a\": /* here */ 1}\n", "x"), nlohmann::json({{"a", 1}}));
}

TEST(JsonText, SyntaxErrorHasLineAndColumn) {
  EXPECT_THAT(complaint("{\n  \"a\": 1,\n  \"b\" 2\n}"), StartsWith("run.json:3:7: not valid JSON: "));
  EXPECT_THAT(complaint(""), StartsWith("run.json:1:1: not valid JSON: "));
  EXPECT_THAT(complaint("{\"a\": 1,}"), StartsWith("run.json:1:9: not valid JSON: "));
  EXPECT_THAT(complaint("{} {}"), StartsWith("run.json:1:4: not valid JSON: "));
}

TEST(JsonText, KeyGivenTwiceIsRefusedWithItsPath) {
  EXPECT_THAT(complaint("{\"train\": {\"lr\": 1, \"lr\": 2}}"), HasSubstr("the key \"train.lr\" is given twice"));
  EXPECT_NO_THROW(parse_json("{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}, \"c\": [{\"x\": 1}, {\"x\": 1}]}", "x"));
}

TEST(JsonText, HostileTextIsAnError) {
  EXPECT_THAT(complaint(std::string(100000, '[')), HasSubstr("nested deeper than"));
  EXPECT_THAT(complaint("{\"a\": 1e999}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint("{\"a\": \"\xff\"}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(complaint("{\"a\": NaN}"), HasSubstr("not valid JSON"));
}

TEST(JsonText, ValuesAreDescribedWithTheirKind) {
  EXPECT_EQ(describe_json("a"), "\"a\" (a string)");
  EXPECT_EQ(describe_json(3), "3 (an integer)");
  EXPECT_EQ(describe_json(2.5), "2.5 (a number)");
  EXPECT_EQ(describe_json(nullptr), "null");
  EXPECT_LT(describe_json(std::string(1000, 'x')).size(), 100u);
}

}  // namespace
}  // namespace slipway
