#include "core/base/strings.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Strings, SplitKeepsEmptyFieldsAndJoinUndoesIt) {
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ','), std::vector<std::string>{""});
  EXPECT_EQ(join(split("a,,b", ','), ","), "a,,b");
}

TEST(Strings, TrimTakesBlanksOfBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Strings, QuotesMakeControlCharactersVisible) { EXPECT_EQ(in_quotes("a\"b\\\n"), "\"a\\\"b\\\\\\x0a\""); }

TEST(Strings, EditDistanceCountsSwapsOnceAndIgnoresCaseAndDashes) {
  EXPECT_EQ(edit_distance("train", "trian"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Micro-Batch", "micro_batch"), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
}

TEST(Strings, NearestNameIsASlipOfTheFingerOrNone) {
  const std::vector<std::string> names = {"lr", "micro_batch_size", "global_batch_size"};
  EXPECT_EQ(nearest_name("micro_batch_siz", names), "micro_batch_size");
  EXPECT_EQ(nearest_name("lr2", names), "lr");
  EXPECT_EQ(nearest_name("colour", names), "");
}

TEST(Strings, SuggestionListsWhatIsAllowedWhenNothingIsNear) {
  EXPECT_EQ(suggestion("ab", {"abc"}), "; did you mean \"abc\"?");
  EXPECT_EQ(suggestion("zzzz", {"abc", "def"}), "; allowed: abc, def");
  EXPECT_EQ(suggestion("zzzz", {}), "; none is allowed here");
  EXPECT_NE(suggestion("zzzz", std::vector<std::string>(50, "abc")).find("and 10 more"), std::string::npos);
}

TEST(Strings, HumanNumbersHaveUnits) {
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(383656), "374.7 KiB");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1234567), "1.23 M");
  EXPECT_EQ(human_duration(0.25), "250 ms");
  EXPECT_EQ(human_duration(123.4), "2 m 03 s");
  EXPECT_EQ(human_duration(7265), "2 h 01 m");
  EXPECT_EQ(human_duration(-1), "unknown");
}

}  // namespace
}  // namespace slipway
