#include "core/config/section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const SectionPlace kPlace{"run.json", "data"};

std::vector<OptionSpec> rows() {
  OptionSpec paths;
  paths.name = "paths";
  paths.type = OptionType::kJson;
  paths.is_path = true;
  OptionSpec epochs;
  epochs.name = "epochs";
  epochs.type = OptionType::kInt;
  epochs.default_json = "1";
  epochs.aliases = {"once=1", "num-epochs"};
  return {paths, epochs};
}

TEST(Section, UnknownKeyOffersTheNearestOrListsAll) {
  EXPECT_EQ(message_of([] {
              checked_options(rows(), {{"epoch", 1}}, kPlace);
            }),
            "run.json: unknown key \"epoch\" in section \"data\"; did you mean \"epochs\"?");
  EXPECT_EQ(message_of([] {
              checked_options(rows(), {{"colour", 1}}, kPlace);
            }),
            "run.json: unknown key \"colour\" in section \"data\"; allowed: paths, epochs");
}

TEST(Section, FlagSpellingAsKeyTellsWhatToWrite) {
  EXPECT_THAT(message_of([] {
                checked_options(rows(), {{"once", true}}, kPlace);
              }),
              HasSubstr("it is a flag of the command line, here write \"epochs\": 1"));
  EXPECT_THAT(message_of([] {
                checked_options(rows(), {{"num_epochs", 2}}, kPlace);
              }),
              HasSubstr("here write \"epochs\": ..."));
}

TEST(Section, SectionMustBeAnObject) {
  EXPECT_THAT(message_of([] { checked_options(rows(), 5, kPlace); }),
              HasSubstr("section \"data\" is 5 (an integer); wanted an object"));
}

TEST(Section, OptionWithoutDefaultMustBeGiven) {
  EXPECT_EQ(message_of([] { complete_options(rows(), json::object(), kPlace); }),
            "run.json: data.paths has no default and is not given; allowed: JSON; set it in the manifest or with "
            "--data.paths");
  const json complete = complete_options(rows(), {{"paths", {"a"}}}, kPlace);
  EXPECT_EQ(complete, json({{"paths", {"a"}}, {"epochs", 1}}));
}

TEST(Section, PathsStartAtTheFolder) {
  const json given = {{"paths", {"a.txt", "/abs/b.txt", "../c.txt", ""}}};
  EXPECT_EQ(checked_options(rows(), given, kPlace, "/home/run")["paths"],
            json({"/home/run/a.txt", "/abs/b.txt", "/home/c.txt", ""}));
  EXPECT_EQ(absolute_paths({{{"weight", 0.5}, {"path", "a"}, {"name", "n"}, {"paths", {"b", "c"}}}}, "/x"),
            json({{{"weight", 0.5}, {"path", "/x/a"}, {"name", "n"}, {"paths", {"/x/b", "/x/c"}}}}));
}

}  // namespace
}  // namespace slipway
