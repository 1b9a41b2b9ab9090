#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/option.h"
#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using testing::HasSubstr;

OptionSpec row(const std::string& name, OptionType type, const std::string& default_json) {
  OptionSpec option;
  option.name = name;
  option.type = type;
  option.default_json = default_json;
  return option;
}

std::string complaint(const std::vector<OptionSpec>& table) {
  return message_of<PluginError>([&] { check_option_table(table, "\"gpt\" of libgpt.so"); });
}

std::vector<OptionSpec> swiglu_table() {
  OptionSpec gated = row("gated_linear_unit", OptionType::kBool, "false");
  OptionSpec activation = row("activation_func", OptionType::kString, "\"gelu\"");
  gated.aliases = {"swiglu=true", "geglu=true"};
  activation.aliases = {"swiglu=silu", "act"};
  activation.choices = {"gelu", "silu"};
  return {gated, activation};
}

TEST(OptionTable, SharedAliasIsFine) { EXPECT_NO_THROW(check_option_table(swiglu_table(), "x")); }

TEST(OptionTable, NamesAreChecked) {
  for (const char* name : {"", "Upper", "with-dash", "1st", "use", "a.b"}) {
    EXPECT_THAT(complaint({row(name, OptionType::kInt, "1")}), HasSubstr("the name must be snake_case")) << name;
  }
  EXPECT_THAT(complaint({row("x", OptionType::kInt, "1"), row("x", OptionType::kInt, "1")}),
              HasSubstr("\"gpt\" of libgpt.so: option \"x\": the spelling \"x\" stands for two things"));
}

TEST(OptionTable, DefaultsObeyTheirOwnRow) {
  EXPECT_THAT(complaint({row("x", OptionType::kInt, "\"a\"")}), HasSubstr("its default is \"a\""));
  EXPECT_THAT(complaint({row("x", OptionType::kInt, "{")}), HasSubstr("its default:1:2: not valid JSON"));
  OptionSpec limited = row("x", OptionType::kInt, "0");
  limited.min_json = "1";
  EXPECT_THAT(complaint({limited}), HasSubstr("allowed: an integer, 1 or more"));
  limited.min_json = "\"one\"";
  EXPECT_THAT(complaint({limited}), HasSubstr("its min is not a number"));
  EXPECT_NO_THROW(check_option_table({row("x", OptionType::kString, "")}, "x"));
  EXPECT_THAT(complaint({row("x", static_cast<OptionType>(99), "1")}), HasSubstr("unknown type 99"));
}

TEST(OptionTable, AliasesAreChecked) {
  std::vector<OptionSpec> table = swiglu_table();
  table[1].aliases = {"gated-linear-unit"};
  EXPECT_THAT(complaint(table), HasSubstr("the spelling \"gated_linear_unit\" stands for two things"));
  table[1].aliases = {"swiglu"};
  EXPECT_THAT(complaint(table), HasSubstr("the spelling \"swiglu\" stands for two things"));
  table[1].aliases = {"swiglu=relu"};
  EXPECT_THAT(complaint(table), HasSubstr("the alias \"swiglu=relu\" is \"relu\""));
  table[1].aliases = {"--swiglu"};
  EXPECT_THAT(complaint(table), HasSubstr("is not a flag name"));
}

}  // namespace
}  // namespace slipway
