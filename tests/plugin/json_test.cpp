#include <gtest/gtest.h>
#include <slipway/json.h>

#include <string>

namespace {

int64_t integer(const char* json, const char* key) {
  int64_t value = -999;
  return slw_json_int(json, key, &value) ? value : -999;
}
double number(const char* json, const char* key) {
  double value = -999;
  return slw_json_double(json, key, &value) ? value : -999;
}
std::string text(const char* json, const char* key) {
  char value[64];
  return slw_json_string(json, key, value, sizeof value, nullptr) ? value : "(none)";
}

TEST(Json, FindsScalarsOfTheObjectItself) {
  const char* json = R"( { "a" : 1 , "b":-2.5e1,"c":true, "d":"x" ,"e":null,"f" :false} )";
  EXPECT_EQ(integer(json, "a"), 1);
  EXPECT_EQ(number(json, "a"), 1.0);
  EXPECT_EQ(number(json, "b"), -25.0);
  EXPECT_EQ(text(json, "d"), "x");
  int flag = -1;
  EXPECT_TRUE(slw_json_bool(json, "c", &flag));
  EXPECT_EQ(flag, 1);
  EXPECT_TRUE(slw_json_bool(json, "f", &flag));
  EXPECT_EQ(flag, 0);
  EXPECT_TRUE(slw_json_has(json, "a"));
  EXPECT_FALSE(slw_json_has(json, "e"));
  EXPECT_FALSE(slw_json_has(json, "g"));
}

TEST(Json, SkipsNestedValues) {
  const char* json = R"({"list":[1,{"n":2,"s":"]}"},[]],"object":{"n":3,"deep":{"n":4}},"n":5})";
  EXPECT_EQ(integer(json, "n"), 5);
  EXPECT_FALSE(slw_json_has(json, "deep"));
  EXPECT_TRUE(slw_json_has(json, "list"));
}

TEST(Json, ValuesThatLookLikeKeysAreNotKeys) {
  EXPECT_EQ(integer(R"({"a":"n","n":7})", "n"), 7);
  EXPECT_EQ(integer(R"({"a":"\"n\":1","n":7})", "n"), 7);
  EXPECT_EQ(integer(R"({"nn":1,"n":7})", "n"), 7);
}

TEST(Json, DecodesEscapesInKeysAndStrings) {
  EXPECT_EQ(text(R"({"a":"q\"b\\s\/\n\t"})", "a"), "q\"b\\s/\n\t");
  EXPECT_EQ(text(R"({"a":"\u0041\u00e9\u20ac\ud83d\ude00"})", "a"), "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(integer(R"({"\u0061b":3})", "ab"), 3);
  EXPECT_EQ(text(R"({"a":""})", "a"), "");
}

TEST(Json, RefusesOtherTypes) {
  const char* json = R"({"a":1.5,"b":"1","c":[1],"d":99999999999999999999,"e":true,"f":1e3})";
  for (const char* key : {"a", "b", "c", "d", "e", "f", "none"}) EXPECT_EQ(integer(json, key), -999) << key;
  EXPECT_EQ(number(json, "b"), -999);
  EXPECT_EQ(number(json, "f"), 1000.0);
  EXPECT_EQ(text(json, "a"), "(none)");
  int flag;
  EXPECT_FALSE(slw_json_bool(json, "a", &flag));
}

TEST(Json, TellsHowLongAStringIs) {
  char small[3] = "zz";
  size_t needed = 0;
  EXPECT_FALSE(slw_json_string(R"({"a":"abc"})", "a", small, sizeof small, &needed));
  EXPECT_EQ(needed, 4u);
  EXPECT_STREQ(small, "zz");
  EXPECT_FALSE(slw_json_string(R"({"a":"a\u0000b"})", "a", small, sizeof small, &needed));
}

TEST(Json, KeepsTheExtremesOfNumbers) {
  EXPECT_EQ(integer(R"({"a":9223372036854775807})", "a"), INT64_MAX);
  EXPECT_EQ(integer(R"({"a":-9223372036854775808})", "a"), INT64_MIN);
  EXPECT_EQ(number(R"({"a":0.1})", "a"), 0.1);
  EXPECT_EQ(number(R"({"a":5e-324})", "a"), 5e-324);
}

TEST(Json, SurvivesDamagedText) {
  for (const char* json : {"", "{", "[]", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":\"\\u12", "{\"a\":[",
                           "{\"a\":}", "{\"a\":\"\\ud800\"}", "{\"a\" 1}", "{\"b\":1 \"a\":1}", "{,}", "{\"a\":-}"}) {
    EXPECT_EQ(integer(json, "a"), -999) << json;
    EXPECT_EQ(number(json, "a"), -999) << json;
    EXPECT_EQ(text(json, "a"), "(none)") << json;
  }
}

TEST(Json, EveryPrefixOfAGoodTextIsSafe) {
  const std::string json = R"({"x":[{"k":"v\u00e9"},2.5],"a":"\ud83d\ude00","n":-12})";
  for (size_t length = 0; length < json.size(); ++length) {
    const std::string prefix = json.substr(0, length);
    (void)integer(prefix.c_str(), "n");
    (void)text(prefix.c_str(), "a");
    EXPECT_FALSE(slw_json_has(prefix.c_str(), "missing"));
  }
  EXPECT_EQ(integer(json.c_str(), "n"), -12);
}

}  // namespace
