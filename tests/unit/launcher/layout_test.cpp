#include "launcher/verify/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

std::string refusal(const std::string& text) {
  try {
    parse_layouts(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LayoutGrammar, ReadsSizesAndWordsInAnyOrder) {
  const Layout layout = parse_layout("tp2dp2ep2etp1sp");
  EXPECT_EQ(layout.tp, 2);
  EXPECT_EQ(layout.dp, 2);
  EXPECT_EQ(layout.ep, 2);
  EXPECT_EQ(layout.etp, 1);
  EXPECT_EQ(layout.pp, 1);
  EXPECT_TRUE(layout.sequence_parallel);
  EXPECT_EQ(layout.world_size(), 4);
  const Layout other = parse_layout("distoptmbs4vpp3pp2");
  EXPECT_EQ(other.vpp, 3);
  EXPECT_EQ(other.pp, 2);
  EXPECT_EQ(other.micro_batch, 4);
  EXPECT_EQ(other.data_parallel, "distributed_optimizer");
  EXPECT_EQ(parse_layout("dp2fsdp").data_parallel, "fsdp");
  EXPECT_EQ(parse_layout("tp12cp3").world_size(), 36);
}

TEST(LayoutGrammar, AListIsJoinedByCommas) {
  const std::vector<Layout> layouts = parse_layouts("tp2, pp2vpp2,dp2distopt");
  ASSERT_EQ(layouts.size(), 3u);
  EXPECT_EQ(layouts[1].name, "pp2vpp2");
  EXPECT_EQ(layouts[2].dp, 2);
}

TEST(LayoutGrammar, RefusesWhatItDoesNotKnowAndShowsTheGrammar) {
  for (const char* text : {"", "tp", "tp0", "tp-1", "tp2x", "xp2", "tp2tp2", "spsp", "distoptfsdp", "tp99999999999",
                           "tp2,,pp2", "TP2", "tp2 pp2"}) {
    EXPECT_THAT(refusal(text), HasSubstr("tpN ppN")) << text;
  }
  EXPECT_THAT(refusal("tp2banana"), HasSubstr("\"banana\""));
  EXPECT_THAT(refusal("tp2tp4"), HasSubstr("tp twice"));
  EXPECT_THAT(refusal("tp2,dp2,tp2"), HasSubstr("\"tp2\" is listed twice"));
}

TEST(LayoutFlags, SetEverythingThatAManifestMayHaveSet) {
  const auto flags = layout_flags(Layout{});
  EXPECT_THAT(flags, IsSupersetOf({"--tensor-model-parallel-size", "--no-sequence-parallel", "--pipeline-schedule",
                                   "--microbatch-group-size-per-vp-stage"}));
  EXPECT_THAT(flags, testing::Not(testing::Contains("--data-parallel.use")));
  EXPECT_THAT(layout_flags(parse_layout("tp2spdp2distopt")),
              IsSupersetOf({"--sequence-parallel", "--data-parallel.use", "distributed_optimizer"}));
}

}  // namespace
}  // namespace slipway
