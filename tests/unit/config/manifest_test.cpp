#include "core/config/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "tests/support/temp_folder.h"
#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct TrainOptions {
  std::int64_t micro_batch_size = 1;
  double lr = 3e-4;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("micro_batch_size", self.micro_batch_size, "Samples per forward.", {.min = 1});
    visit("lr", self.lr, "Learning rate.", {.min = 0});
  }
};

struct DataOptions {
  std::string split = "969,30,1";
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("split", self.split, "Parts.");
  }
};

struct RunOptions {
  std::string output_dir;
  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("output_dir", self.output_dir, "Where results go.", {.is_path = true});
  }
};

std::vector<SectionSpec> sections() {
  return {{"model", {}, ProviderUse::kRequired},
          {"optimizer", {}, ProviderUse::kRequired},
          {"optimizer.fallback", {}, ProviderUse::kOptional},
          {"data", option_rows<DataOptions>(), ProviderUse::kRequired},
          {"train", option_rows<TrainOptions>()},
          {"run", option_rows<RunOptions>(), ProviderUse::kNone, true}};
}

OptionSpec row(const std::string& name, OptionType type, const std::string& default_json, bool is_path = false) {
  OptionSpec option;
  option.name = name;
  option.type = type;
  option.default_json = default_json;
  option.is_path = is_path;
  return option;
}

OptionTables tables_of(const Manifest& manifest) {
  OptionTables tables;
  for (const ProviderChoice& choice : manifest.choices()) {
    if (choice.use == "gpt") tables[choice.section] = {row("hidden_size", OptionType::kInt, "64")};
    if (choice.use == "bigram") tables[choice.section] = {};
    if (choice.use == "text") tables[choice.section] = {row("paths", OptionType::kJson, "", true)};
    if (choice.use == "adam") tables[choice.section] = {row("beta1", OptionType::kFloat, "0.9")};
    if (choice.use == "muon") tables[choice.section] = {row("momentum", OptionType::kFloat, "0.95")};
  }
  return tables;
}

const char* const kWhole = R"({
  // Comments are fine.
  "plugins": ["plugins/a.so", {"path": "gpt", "version": "1.2"}],
  "model": {"use": "gpt", "hidden_size": 8},
  "optimizer": {"use": "muon", "fallback": {"use": "adam", "beta1": 0.5}},
  "data": {"use": "text", "paths": ["a.txt"], "split": "1,0,0"},
  "train": {"micro_batch_size": 2}
})";

class ManifestTest : public testing::Test {
 protected:
  Manifest parse(const std::string& text, std::vector<std::string> arguments = {}) {
    write_file_atomic((folder_.path() / "run.json").string(), text, ExitCode::kUsage);
    arguments.insert(arguments.begin(), {"--manifest", "run.json"});
    return Manifest::parse(sections(), arguments, folder_.path().string());
  }
  ResolvedManifest resolve(const std::string& text, const std::vector<std::string>& arguments = {}) {
    const Manifest manifest = parse(text, arguments);
    return manifest.resolve(tables_of(manifest));
  }
  std::string complaint(const std::string& text, const std::vector<std::string>& arguments = {}) {
    return message_of([&] { resolve(text, arguments); });
  }
  std::string here(const std::string& name) const { return (folder_.path() / name).string(); }

  TempFolder folder_;
};

TEST_F(ManifestTest, TellsPluginsAndChoicesBeforeAnyTableIsKnown) {
  const Manifest manifest = parse(kWhole, {"--plugin", "b.so", "--plugin=/x/c.so", "--plugin", "plugins/a.so",
                                           "--model", "bigram", "--whatever", "5"});
  ASSERT_EQ(manifest.plugins().size(), 4u);
  EXPECT_EQ(manifest.plugins()[0].file, here("plugins/a.so"));
  EXPECT_EQ(manifest.plugins()[1].file, "gpt");
  EXPECT_EQ(manifest.plugins()[1].version, "1.2");
  EXPECT_EQ(manifest.plugins()[2].file, here("b.so"));
  EXPECT_EQ(manifest.plugins()[3].file, "/x/c.so");
  ASSERT_EQ(manifest.choices().size(), 4u);
  EXPECT_EQ(manifest.choices()[0].use, "bigram");
  EXPECT_EQ(manifest.choices()[0].where, "command line: --model");
  EXPECT_EQ(manifest.choices()[2].section, "optimizer.fallback");
  EXPECT_EQ(manifest.choices()[2].where, "run.json: optimizer.fallback.use");
}

TEST_F(ManifestTest, ResolvesEveryValueWithItsPrecedence) {
  const ResolvedManifest resolved = resolve(kWhole, {"--micro-batch-size", "4", "--hidden-size=16", "--output-dir",
                                                     "out", "--optimizer.fallback.beta1", "0.25"});
  EXPECT_EQ(resolved.read<TrainOptions>("train").micro_batch_size, 4);
  EXPECT_EQ(resolved.read<TrainOptions>("train").lr, 3e-4);
  EXPECT_EQ(resolved.read<DataOptions>("data").split, "1,0,0");
  EXPECT_EQ(resolved.read<RunOptions>("run").output_dir, here("out"));
  EXPECT_EQ(resolved.provider_options("model"), json({{"hidden_size", 16}}));
  EXPECT_EQ(resolved.provider_options("data"), json({{"paths", {here("a.txt")}}}));
  const json expected = {
      {"plugins", {{{"path", here("plugins/a.so")}}, {{"path", "gpt"}, {"version", "1.2"}}}},
      {"model", {{"use", "gpt"}, {"hidden_size", 16}}},
      {"optimizer", {{"use", "muon"}, {"momentum", 0.95}, {"fallback", {{"use", "adam"}, {"beta1", 0.25}}}}},
      {"data", {{"use", "text"}, {"paths", {here("a.txt")}}, {"split", "1,0,0"}}},
      {"train", {{"micro_batch_size", 4}, {"lr", 3e-4}}}};
  EXPECT_EQ(resolved.json(), expected);
}

TEST_F(ManifestTest, ResolvedManifestResolvesToItself) {
  const std::string text = resolve(kWhole, {"--data.paths", "b.txt,c.txt"}).json().dump(2);
  EXPECT_EQ(resolve(text).json().dump(2), text);
  const std::string without_fallback =
      resolve(R"({"model": "gpt", "optimizer": "adam", "data": {"use": "text", "paths": []}})").json().dump(2);
  EXPECT_THAT(without_fallback, HasSubstr("\"fallback\": null"));
  EXPECT_EQ(resolve(without_fallback).json().dump(2), without_fallback);
}

TEST_F(ManifestTest, CommandLineAloneIsEnough) {
  const std::string folder = folder_.path().string();
  const Manifest manifest = Manifest::parse(
      sections(), {"--model=gpt", "--optimizer.use", "adam", "--data", "text", "--data.paths", "x.txt"}, folder);
  const ResolvedManifest resolved = manifest.resolve(tables_of(manifest));
  EXPECT_EQ(resolved.provider_options("data")["paths"], json({here("x.txt")}));
  EXPECT_THAT(
      message_of([&] { Manifest::parse(sections(), {"--model=gpt"}, folder); }),
      HasSubstr("command line: section \"optimizer\" names no provider; write \"use\": \"<name>\" in it or give "
                "--optimizer <name>"));
}

TEST_F(ManifestTest, FilePathsStartAtTheManifestAndFlagPathsAtTheCurrentFolder) {
  std::filesystem::create_directory(here("sub"));
  write_file_atomic(here("sub/run.json"), kWhole, ExitCode::kUsage);
  const std::string folder = folder_.path().string();
  const Manifest of_file = Manifest::parse(sections(), {"--manifest", "sub/run.json"}, folder);
  EXPECT_EQ(of_file.resolve(tables_of(of_file)).provider_options("data")["paths"], json({here("sub/a.txt")}));
  EXPECT_EQ(of_file.plugins()[0].file, here("sub/plugins/a.so"));
  const Manifest of_flag = Manifest::parse(sections(), {"--manifest", "sub/run.json", "--paths", "a.txt"}, folder);
  EXPECT_EQ(of_flag.resolve(tables_of(of_flag)).provider_options("data")["paths"], json({here("a.txt")}));
}

TEST_F(ManifestTest, WrongKeysAreNamedWithTheirPlace) {
  EXPECT_EQ(complaint(R"({"model": "gpt", "optimizer": "adam", "data": {"use": "text"}, "trian": {}})"),
            "run.json: unknown section \"trian\"; did you mean \"train\"?");
  EXPECT_EQ(complaint(R"({"model": {"use": "gpt", "hiden_size": 1}, "optimizer": "adam", "data": "text"})"),
            "run.json: unknown key \"hiden_size\" in section \"model\"; did you mean \"hidden_size\"?");
  EXPECT_EQ(complaint(R"({"model": {"use": "gpt", "lr": 1}, "optimizer": "adam", "data": "text"})"),
            "run.json: unknown key \"lr\" in section \"model\"; it belongs in section \"train\"");
  EXPECT_THAT(complaint(R"({"model": "gpt", "optimizer": "adam", "data": "text", "train": {"output_dir": "x"}})"),
              HasSubstr("it is given on the command line only: --output-dir"));
  EXPECT_THAT(complaint(R"({"model": "gpt", "optimizer": "adam", "data": "text", "run": {}})"),
              HasSubstr("unknown section \"run\""));
}

TEST_F(ManifestTest, WrongShapesAreNamedWithTheirPlace) {
  EXPECT_EQ(complaint("[1]"), "run.json: a manifest is an object of sections, found [1] (a list)");
  EXPECT_THAT(complaint(R"({"model": 5})"), HasSubstr("section \"model\" is 5 (an integer)"));
  EXPECT_THAT(complaint(R"({"model": {"use": 5}})"),
              HasSubstr("run.json: model.use is 5 (an integer); wanted a string"));
  EXPECT_THAT(complaint(R"({"model": {"use": ""}})"), HasSubstr("model.use is empty"));
  EXPECT_THAT(complaint(R"({"model": null})"), HasSubstr("section \"model\" is null"));
  EXPECT_THAT(complaint(R"({"train": "x"})"), HasSubstr("section \"train\" is \"x\""));
  EXPECT_THAT(complaint(R"({"plugins": "x.so"})"), HasSubstr("plugins is \"x.so\" (a string); wanted a list"));
  EXPECT_THAT(complaint(R"({"plugins": [1]})"), HasSubstr("plugins[0] is 1 (an integer); wanted a path"));
  EXPECT_THAT(complaint(R"({"plugins": [{"sha256": "x"}]})"), HasSubstr("plugins[0] has no \"path\""));
  EXPECT_THAT(complaint(R"({"plugins": [{"path": "a.so", "sha": "x"}]})"), HasSubstr("unknown key \"sha\""));
  EXPECT_THAT(complaint(R"({"plugins": [{"path": "a.so", "sha256": "XY"}]})"), HasSubstr("64 lower-case hexadecimal"));
  EXPECT_THAT(complaint("{"), HasSubstr("run.json:1:2: not valid JSON"));
}

TEST_F(ManifestTest, WrongValuesNameFileAndKey) {
  EXPECT_EQ(complaint(R"({"model": "gpt", "optimizer": "adam", "data": "text", "train": {"micro_batch_size": 0}})"),
            "run.json: train.micro_batch_size is 0 (an integer); allowed: an integer, 1 or more");
  EXPECT_THAT(complaint(kWhole, {"--micro-batch-size", "0"}),
              HasSubstr("command line: --micro-batch-size is 0 (an integer); allowed"));
  EXPECT_THAT(complaint(R"({"model": "gpt", "optimizer": "adam", "data": "text"})"),
              HasSubstr("run.json: data.paths has no default and is not given"));
}

TEST_F(ManifestTest, EarlyFlagsAreChecked) {
  EXPECT_THAT(complaint(kWhole, {"--manifest", "other.json"}), HasSubstr("--manifest is given twice"));
  EXPECT_THAT(complaint(kWhole, {"--plugin"}), HasSubstr("--plugin needs a value"));
  EXPECT_THAT(complaint(kWhole, {"--model", "gpt", "--model.use", "bigram"}), HasSubstr("give one of them"));
  EXPECT_EQ(message_of<Error>([] {
              Manifest::parse(sections(), {"--manifest", "no.json"}, "/nowhere");
            }),
            "cannot read /nowhere/no.json: No such file or directory");
}

TEST_F(ManifestTest, OptionsOfAnUnusedOptionalSectionAreUnknown) {
  EXPECT_THAT(complaint(R"({"model": "gpt", "optimizer": {"use": "muon", "fallback": {"beta1": 1}}, "data": "text"})"),
              HasSubstr("unknown key \"beta1\" in section \"optimizer.fallback\""));
}

TEST_F(ManifestTest, PluginMayNotTakeAnOptionOfTheCore) {
  const Manifest manifest = parse(kWhole);
  OptionTables tables = tables_of(manifest);
  tables["data"].push_back(row("split", OptionType::kString, "\"\""));
  EXPECT_THAT(message_of<PluginError>([&] { manifest.resolve(tables); }),
              HasSubstr("the options of \"text\" (run.json: data.use): option \"split\" is an option of the core"));
  tables = tables_of(manifest);
  tables["optimizer"].push_back(row("fallback", OptionType::kString, "\"\""));
  EXPECT_THAT(message_of<PluginError>([&] { manifest.resolve(tables); }), HasSubstr("taken by a section of the core"));
  tables = tables_of(manifest);
  tables["model"].push_back(row("Bad-Name", OptionType::kString, "\"\""));
  EXPECT_THAT(message_of<PluginError>([&] { manifest.resolve(tables); }), HasSubstr("must be snake_case"));
}

}  // namespace
}  // namespace slipway
