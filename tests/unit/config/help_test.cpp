#include "core/config/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipway {
namespace {

using testing::HasSubstr;

HelpSection section() {
  OptionSpec size;
  size.name = "micro_batch_size";
  size.type = OptionType::kInt;
  size.default_json = "1";
  size.min_json = "1";
  size.help = "Samples per forward of one rank.";
  OptionSpec style;
  style.name = "style";
  style.default_json = "\"a|b\"";
  style.choices = {"a|b", "c"};
  style.aliases = {"plain=c", "look"};
  style.help = std::string("Long help: ") + std::string(60, 'x') + " " + std::string(60, 'y');
  OptionSpec flag;
  flag.name = "quick";
  flag.type = OptionType::kBool;
  flag.help = "Fast.";
  return {"Section train", "train", {size, style, flag}};
}

TEST(Help, RowsHoldFlagTypeDefaultAndMeaning) {
  const std::vector<HelpRow> rows = help_rows(section());
  EXPECT_EQ(rows[0].flag, "--micro-batch-size");
  EXPECT_EQ(rows[0].type, "an integer, 1 or more");
  EXPECT_EQ(rows[0].default_value, "1");
  EXPECT_EQ(rows[1].other_flags, "--plain (sets c), --look");
  EXPECT_EQ(rows[2].other_flags, "--no-quick");
  EXPECT_EQ(rows[2].default_value, "none");
  HelpSection dotted = section();
  dotted.flat = false;
  EXPECT_EQ(help_rows(dotted)[0].flag, "--train.micro-batch-size");
}

TEST(Help, TextIsWrapped) {
  const std::string text = help_text({section()});
  EXPECT_THAT(text, HasSubstr("Section train\n  --micro-batch-size  (an integer, 1 or more; default 1)\n"
                              "      Samples per forward of one rank.\n"));
  EXPECT_THAT(text, HasSubstr("x\n      y"));
  EXPECT_THAT(text, HasSubstr("      Also: --plain (sets c), --look\n"));
}

TEST(Help, MarkdownIsOneTablePerSectionWithBarsEscaped) {
  const std::string text = flags_markdown({section(), {"Empty", "e", {}}});
  EXPECT_THAT(text,
              HasSubstr("## Section train\n\n| flag | value | default | meaning |\n|---|---|---|---|\n"
                        "| `--micro-batch-size` | an integer, 1 or more | `1` | Samples per forward of one rank. |\n"));
  EXPECT_THAT(text, HasSubstr("`\"a\\|b\"`"));
  EXPECT_THAT(text, Not(HasSubstr("Empty")));
}

}  // namespace
}  // namespace slipway
