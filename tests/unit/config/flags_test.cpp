#include "core/config/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

OptionSpec row(const std::string& name, OptionType type, std::vector<std::string> aliases = {}) {
  OptionSpec option;
  option.name = name;
  option.type = type;
  option.aliases = std::move(aliases);
  return option;
}

FlagTable table() {
  FlagTable flags;
  flags.add_core("train", {row("micro_batch_size", OptionType::kInt), row("lr", OptionType::kFloat),
                           row("eval_only", OptionType::kBool), row("beta", OptionType::kFloat)});
  flags.add_provider("model", {row("hidden_size", OptionType::kInt, {"width"}), row("eps", OptionType::kFloat),
                               row("add_bias_linear", OptionType::kBool, {"disable-bias-linear=false"}),
                               row("gated_linear_unit", OptionType::kBool, {"swiglu=true"}),
                               row("activation_func", OptionType::kString, {"swiglu=silu"})});
  flags.add_provider("optimizer", {row("eps", OptionType::kFloat), row("beta", OptionType::kFloat)});
  flags.add_provider("optimizer.fallback", {row("beta1", OptionType::kFloat)});
  flags.add_known("manifest");
  return flags;
}

json assign(const std::vector<std::string>& arguments) {
  json all = json::object();
  for (const Assignment& a : table().assign(split_flags(arguments))) all[a.section + "." + a.option] = a.value;
  return all;
}

std::string complaint(const std::vector<std::string>& arguments) {
  return message_of([&] { assign(arguments); });
}

TEST(Flags, AllSpellingsOfAFlagAndItsValue) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--micro-batch-size", "4"},
                                                    {"--micro-batch-size=4"},
                                                    {"--micro_batch_size", "4"},
                                                    {"--train.micro-batch-size", "4"},
                                                    {"--train.micro_batch_size=4"}}) {
    EXPECT_EQ(assign(arguments), json({{"train.micro_batch_size", 4}})) << arguments[0];
  }
}

TEST(Flags, BooleansHaveFiveForms) {
  EXPECT_EQ(assign({"--eval-only"}), json({{"train.eval_only", true}}));
  EXPECT_EQ(assign({"--eval-only", "false"}), json({{"train.eval_only", false}}));
  EXPECT_EQ(assign({"--eval-only=true"}), json({{"train.eval_only", true}}));
  EXPECT_EQ(assign({"--no-eval-only"}), json({{"train.eval_only", false}}));
  EXPECT_EQ(assign({"--train.no-eval-only"}), json({{"train.eval_only", false}}));
  EXPECT_THAT(complaint({"--no-eval-only", "true"}), HasSubstr("belongs to no flag"));
  EXPECT_THAT(complaint({"--no-eval-only=true"}), HasSubstr("takes no value"));
  EXPECT_THAT(complaint({"--no-lr"}), HasSubstr("unknown flag --no-lr"));
}

TEST(Flags, NegativeNumbersAndEqualSignsAreValues) {
  EXPECT_EQ(assign({"--lr", "-0.5"}), json({{"train.lr", -0.5}}));
  EXPECT_EQ(assign({"--activation-func=--a=b"}), json({{"model.activation_func", "--a=b"}}));
}

TEST(Flags, AliasesTakeOrSetValues) {
  EXPECT_EQ(assign({"--width", "8"}), json({{"model.hidden_size", 8}}));
  EXPECT_EQ(assign({"--disable-bias-linear"}), json({{"model.add_bias_linear", false}}));
  EXPECT_EQ(assign({"--model.disable-bias-linear"}), json({{"model.add_bias_linear", false}}));
  EXPECT_EQ(assign({"--swiglu"}), json({{"model.gated_linear_unit", true}, {"model.activation_func", "silu"}}));
  EXPECT_THAT(complaint({"--swiglu", "true"}), HasSubstr("\"true\" after --swiglu belongs to no flag"));
  EXPECT_THAT(complaint({"--swiglu=true"}), HasSubstr("--swiglu takes no value"));
}

TEST(Flags, CoreWinsFlatAndProvidersMustBeTheOnlyOne) {
  EXPECT_EQ(assign({"--beta", "1"}), json({{"train.beta", 1.0}}));
  EXPECT_EQ(assign({"--optimizer.beta", "1"}), json({{"optimizer.beta", 1.0}}));
  EXPECT_EQ(assign({"--beta1", "1"}), json({{"optimizer.fallback.beta1", 1.0}}));
  EXPECT_EQ(assign({"--optimizer.fallback.beta1", "1"}), json({{"optimizer.fallback.beta1", 1.0}}));
  EXPECT_EQ(complaint({"--eps", "1"}),
            "command line: --eps could be any of --model.eps, --optimizer.eps; write one of these");
}

TEST(Flags, UnknownFlagOffersTheNearest) {
  EXPECT_EQ(complaint({"--micro-batch-siz", "4"}),
            "command line: unknown flag --micro-batch-siz; did you mean --micro-batch-size?");
  EXPECT_EQ(complaint({"--manifst", "4"}), "command line: unknown flag --manifst; did you mean --manifest?");
  EXPECT_THAT(complaint({"--colour"}), HasSubstr("`slipway help` lists the flags"));
  EXPECT_THAT(complaint({"--micro-batch"}), HasSubstr("unknown flag")) << "abbreviations are not guessed";
}

TEST(Flags, ValuesAreNeededAndChecked) {
  EXPECT_EQ(complaint({"--lr"}), "command line: --lr needs a value");
  EXPECT_EQ(complaint({"--lr", "--eval-only"}), "command line: --lr needs a value");
  EXPECT_EQ(complaint({"--lr", "fast"}), "command line: --lr is \"fast\"; allowed: a number");
  EXPECT_THAT(complaint({"--lr", "1", "2"}), HasSubstr("\"2\" after --lr belongs to no flag"));
  EXPECT_THAT(complaint({"lr"}), HasSubstr("unexpected argument \"lr\""));
  EXPECT_THAT(complaint({"--"}), HasSubstr("\"--\" is not a flag"));
}

TEST(Flags, ContradictionIsRefusedAndRepetitionIsNot) {
  EXPECT_EQ(assign({"--lr", "1", "--train.lr=1.0"}), json({{"train.lr", 1.0}}));
  EXPECT_EQ(complaint({"--lr", "1", "--train.lr=2"}),
            "command line: --lr sets train.lr to 1.0 and --train.lr sets it to 2.0; give one of them");
  EXPECT_THAT(complaint({"--swiglu", "--activation-func", "gelu"}),
              HasSubstr("--swiglu sets model.activation_func to \"silu\""));
}

}  // namespace
}  // namespace slipway
