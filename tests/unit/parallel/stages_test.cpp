// Layers on pipeline stages: the reference's cuts, uneven ones, layouts as text, and every refusal with its numbers.
#include "core/parallel/stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/parallel/stage_layout.h"
#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

PipelineConfig chunks(int64_t count) {
  PipelineConfig config;
  config.virtual_pipeline_model_parallel_size = count;
  return config;
}

PipelineConfig ends(std::optional<int64_t> first, std::optional<int64_t> last, int64_t count = 1) {
  PipelineConfig config = chunks(count);
  config.num_layers_in_first_pipeline_stage = first;
  config.num_layers_in_last_pipeline_stage = last;
  return config;
}

PipelineConfig counting(bool embedding, bool loss, int64_t count = 1) {
  PipelineConfig config = chunks(count);
  config.account_for_embedding_in_pipeline_split = embedding;
  config.account_for_loss_in_pipeline_split = loss;
  return config;
}

PipelineConfig layout(const std::string& text) {
  PipelineConfig config;
  config.pipeline_model_parallel_layout = text;
  return config;
}

std::vector<int32_t> sizes(const PipelineConfig& config, int pp, int64_t layers) {
  std::vector<int32_t> counts;
  int32_t next = 0;
  for (const slw_stage& stage : cut_stages(config, pp, layers)) {
    EXPECT_EQ(stage.layer_begin, next);
    counts.push_back(stage.layer_end - stage.layer_begin);
    next = stage.layer_end;
  }
  EXPECT_EQ(next, layers);
  return counts;
}

std::string complaint(const PipelineConfig& config, int pp, int64_t layers) {
  return message_of([&] { cut_stages(config, pp, layers); });
}

// First and last layer of each chunk of a rank.
std::vector<std::pair<int32_t, int32_t>> layers_of(int rank) {
  std::vector<std::pair<int32_t, int32_t>> layers;
  for (const slw_stage& stage : stages_of_rank(cut_stages(chunks(2), 2, 8), 2, rank)) {
    layers.emplace_back(stage.layer_begin, stage.layer_end - 1);
  }
  return layers;
}

TEST(Stages, InterleavedLayersAreThoseOfTheReference) {
  EXPECT_THAT(layers_of(0), ElementsAre(std::pair(0, 1), std::pair(4, 5)));
  EXPECT_THAT(layers_of(1), ElementsAre(std::pair(2, 3), std::pair(6, 7)));
}

TEST(Stages, SayWhereTheyStand) {
  const std::vector<slw_stage> stages = cut_stages(chunks(2), 2, 8);
  ASSERT_EQ(stages.size(), 4u);
  for (size_t v = 0; v < 4; ++v) {
    EXPECT_EQ(stages[v].vp_stage, static_cast<int32_t>(v) / 2);
    EXPECT_EQ(stages[v].vp_size, 2);
    EXPECT_EQ(stages[v].pre_process, v == 0 ? 1 : 0);
    EXPECT_EQ(stages[v].post_process, v == 3 ? 1 : 0);
  }
}

TEST(Stages, EvenOnes) {
  EXPECT_THAT(sizes({}, 1, 5), ElementsAre(5));
  EXPECT_THAT(sizes({}, 4, 8), ElementsAre(2, 2, 2, 2));
  PipelineConfig by_layers;
  by_layers.num_layers_per_virtual_pipeline_stage = 2;
  EXPECT_EQ(num_chunks(by_layers, 2, 12), 3);
  EXPECT_THAT(sizes(by_layers, 2, 8), ElementsAre(2, 2, 2, 2));
}

TEST(Stages, EmbeddingAndLossCountAsLayers) {
  EXPECT_THAT(sizes(counting(true, true), 4, 6), ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(sizes(counting(true, false), 4, 7), ElementsAre(1, 2, 2, 2));
  EXPECT_THAT(sizes(counting(false, true, 2), 2, 7), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(sizes(counting(true, true), 1, 3), ElementsAre(3));
  EXPECT_THAT(sizes(counting(true, true), 3, 1), ElementsAre(0, 1, 0));
  PipelineConfig by_layers = counting(true, true);
  by_layers.virtual_pipeline_model_parallel_size.reset();
  by_layers.num_layers_per_virtual_pipeline_stage = 2;
  EXPECT_THAT(sizes(by_layers, 2, 6), ElementsAre(1, 2, 2, 1));
}

TEST(Stages, FirstAndLastRankMayDiffer) {
  EXPECT_THAT(sizes(ends(1, 3), 4, 8), ElementsAre(1, 2, 2, 3));
  EXPECT_THAT(sizes(ends(5, {}), 4, 8), ElementsAre(5, 1, 1, 1));
  EXPECT_THAT(sizes(ends({}, 2), 4, 8), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(sizes(ends(0, 0), 4, 8), ElementsAre(0, 4, 4, 0));
  EXPECT_THAT(sizes(ends(3, 5), 2, 8), ElementsAre(3, 5));
  EXPECT_THAT(sizes(ends(8, {}), 1, 8), ElementsAre(8));
  EXPECT_THAT(sizes(ends(2, 4, 2), 3, 10), ElementsAre(1, 2, 2, 1, 2, 2));
}

TEST(Stages, OnesThatDoNotDivideAreRefusedWithTheNearest) {
  EXPECT_THAT(complaint({}, 3, 8),
              HasSubstr("num_layers = 8 cannot be shared evenly by 3 pipeline stages; nearest: 6 or 9"));
  EXPECT_THAT(complaint({}, 4, 3), HasSubstr("nearest: 4;"));
  EXPECT_THAT(complaint({}, 2, 0), HasSubstr("num_layers = 0"));
  EXPECT_THAT(complaint(chunks(3), 2, 8),
              HasSubstr("8 cannot be shared evenly by 6 pipeline stages; nearest: 6 or 12"));
  EXPECT_THAT(complaint(counting(true, false), 2, 8), HasSubstr("num_layers + embedding = 9"));
  EXPECT_THAT(complaint(counting(true, true), 4, 8), HasSubstr("num_layers + embedding + loss = 10"));
  PipelineConfig by_layers;
  by_layers.num_layers_per_virtual_pipeline_stage = 3;
  EXPECT_THAT(complaint(by_layers, 2, 8),
              HasSubstr("size 2 x num_layers_per_virtual_pipeline_stage 3 = 6; nearest: 6 or 12"));
}

TEST(Stages, EndsThatDoNotFitAreRefused) {
  EXPECT_THAT(complaint(ends(4, 5), 2, 8),
              HasSubstr("stage 4 and num_layers_in_last_pipeline_stage 5 are more than the 8 layers"));
  EXPECT_THAT(complaint(ends(3, 4), 2, 8), HasSubstr("leave 1 of 8 layers to the other 0 of 2 pipeline ranks"));
  EXPECT_THAT(complaint(ends(4, 4), 4, 8), HasSubstr("leave 0 of 8 layers to the other 2 of 4"));
  EXPECT_THAT(complaint(ends(4, 4), 1, 8), HasSubstr("to the other 0 of 1"));
  EXPECT_THAT(complaint(ends(3, {}), 4, 8),
              HasSubstr("layers between first and last stage = 5 cannot be shared evenly by 3"));
  EXPECT_THAT(complaint(ends(3, {}, 2), 2, 7),
              HasSubstr("num_layers_in_first_pipeline_stage is 3, which 2 chunks per rank"));
  EXPECT_THAT(complaint(ends({}, 3, 2), 2, 7),
              HasSubstr("num_layers_in_last_pipeline_stage is 3, which 2 chunks per rank"));
}

TEST(Stages, OptionsThatContradictAreRefused) {
  PipelineConfig both = chunks(2);
  both.num_layers_per_virtual_pipeline_stage = 2;
  EXPECT_THAT(complaint(both, 2, 8), HasSubstr("both given"));
  PipelineConfig counted_ends = ends(1, {});
  counted_ends.account_for_loss_in_pipeline_split = true;
  EXPECT_THAT(complaint(counted_ends, 2, 8), HasSubstr("exclude each other"));
  PipelineConfig alike = ends(1, {});
  alike.virtual_pipeline_model_parallel_size.reset();
  alike.num_layers_per_virtual_pipeline_stage = 1;
  EXPECT_THAT(complaint(alike, 2, 8), HasSubstr("says that all chunks are alike"));
  PipelineConfig counted_layout = layout("Et|tL");
  counted_layout.account_for_loss_in_pipeline_split = true;
  EXPECT_THAT(complaint(counted_layout, 2, 2), HasSubstr("says where every layer is"));
  EXPECT_THAT(complaint(chunks(2), 1, 8),
              HasSubstr("virtual_pipeline_model_parallel_size is 2 with pipeline_model_parallel_size 1"));
}

TEST(Stages, HugeNumbersAreRefused) {
  EXPECT_THAT(complaint(chunks(4294967297), 2, 8), HasSubstr("is 4294967297, more than the 8 layers"));
  EXPECT_THAT(complaint(chunks(kHuge), 2, 8), HasSubstr("more than the 8 layers"));
  EXPECT_THAT(complaint({}, 2, int64_t{1} << 33), HasSubstr("num_layers is 8589934592; at most"));
  EXPECT_THAT(complaint(ends(kHuge, kHuge), 4, 8), HasSubstr("more than the 8 layers"));
  PipelineConfig by_layers;
  by_layers.num_layers_per_virtual_pipeline_stage = int64_t{1} << 62;
  EXPECT_THAT(complaint(by_layers, 4, 8), HasSubstr("num_layers_per_virtual_pipeline_stage 4611686018427387904"));
  PipelineConfig many = layout("Et|tL");
  many.virtual_pipeline_model_parallel_size = 4294967297;
  EXPECT_THAT(complaint(many, 2, 2), HasSubstr("more than the 2 stages of pipeline_model_parallel_layout"));
}

TEST(StageLayout, SaysWhereEverythingIs) {
  EXPECT_THAT(sizes(layout("Et*3|(tt|)*2,tL"), 4, 8), ElementsAre(3, 2, 2, 1));
  EXPECT_THAT(sizes(layout("E|(t|)*3,|L"), 6, 3), ElementsAre(0, 1, 1, 1, 0, 0));
  EXPECT_THAT(sizes(layout("EtL"), 1, 1), ElementsAre(1));
  EXPECT_EQ(num_chunks(layout("Et|t|t|tL"), 2, 4), 2);
  EXPECT_THAT(parse_stage_layout("E,( (t)*2 | )*2 , t L"), ElementsAre("Ett", "tt", "tL"));
  EXPECT_THAT(parse_stage_layout("(E(t*2|)*2)tL"), ElementsAre("Ett", "tt", "tL"));
  EXPECT_THAT(parse_stage_layout("()*1048576t"), ElementsAre("t"));
}

TEST(StageLayout, OneThatDoesNotFitTheRunIsRefused) {
  EXPECT_THAT(complaint(layout("Et|t|tL"), 2, 3), HasSubstr("it has 3 stages, pipeline ranks x chunks make 2"));
  EXPECT_THAT(complaint(layout("Et|tL"), 2, 3), HasSubstr("it has 2 layers (t), the model 3"));
  EXPECT_THAT(complaint(layout(""), 1, 1), HasSubstr("it has 0 layers"));
  for (const char* text : {"t|tL", "tE|tL", "Et|t", "Et|Lt", "EEt|tL", "Et|EtL", "EtL|tL", "Et|tLL", "LEt|tL"}) {
    EXPECT_THAT(complaint(layout(text), 2, 2), HasSubstr("the first stage has to begin with the only E")) << text;
  }
}

std::string complaint_of(const std::string& text) {
  return message_of([&] { parse_stage_layout(text); });
}

TEST(StageLayout, JunkIsRefusedWithItsPlace) {
  EXPECT_THAT(complaint_of("Et|x"), HasSubstr("\"Et|x\", at character 4: allowed are E, t, L"));
  EXPECT_THAT(complaint_of("Et|mL"), HasSubstr("multi-token prediction"));
  EXPECT_THAT(complaint_of("E(t|tL"), HasSubstr("'(' is not closed"));
  EXPECT_THAT(complaint_of("Et)|tL"), HasSubstr("at character 3: ')' without '('"));
  EXPECT_THAT(complaint_of("*2t"), HasSubstr("at character 1"));
  EXPECT_THAT(complaint_of("t*2*2"), HasSubstr("at character 4"));
  for (const char* times : {"t*", "t*x", "t*0", "t*-1", "t*1048577", "t*99999999999999999999", "(t)* "}) {
    EXPECT_THAT(complaint_of(times), HasSubstr("'*' wants a number")) << times;
  }
  EXPECT_THAT(complaint_of(std::string("t\0t", 3)), HasSubstr("\"t\\x00t\", at character 2"));
  EXPECT_THAT(complaint_of("\xff\n"), HasSubstr("at character 1"));
}

TEST(StageLayout, HostileOnesCostNothing) {
  EXPECT_THAT(complaint_of("((((t*1048576)*1048576)*1048576)*1048576)"), HasSubstr("too long"));
  EXPECT_THAT(complaint_of(std::string(100000, '(')), HasSubstr("nested too deeply"));
  std::string empties;
  for (int i = 0; i < 10000; ++i) empties += "()*1048576";
  EXPECT_THAT(parse_stage_layout(empties), ElementsAre(""));
  EXPECT_LT(complaint_of(std::string(1 << 21, 't')).size(), 500u);
}

}  // namespace
}  // namespace slipway
