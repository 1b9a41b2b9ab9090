// What the gpt model promises beyond its golden numbers: its table, its refusals, its dropout, its cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <slipway/philox.h>

#include "tests/conformance/model/subjects.h"

namespace slipway {
namespace {

using testing::HasSubstr;

ModelSetup gpt(const nlohmann::json& more = nlohmann::json::object()) { return setup_of({"", "gpt", small_gpt(more)}); }

std::string refusal(const ModelSetup& setup) {
  try {
    ModelHarness model(setup);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::kUsage) << e.what();
    return e.what();
  }
  return "";
}

// ---- the table ----

TEST(GptTable, HasMegatronsNamesAndShapes) {
  const ModelHarness model(gpt({{"num_layers", 1},
                                {"num_query_groups", 2},
                                {"gated_linear_unit", true},
                                {"ffn_hidden_size", 24},
                                {"max_position_embeddings", 20},
                                {"qk_layernorm", true}}));
  const std::map<std::string, std::vector<int64_t>> want = {
      {"embedding.word_embeddings.weight", {50, 32}},
      {"embedding.position_embeddings.weight", {20, 32}},
      {"decoder.layers.0.input_layernorm.weight", {32}},
      {"decoder.layers.0.input_layernorm.bias", {32}},
      {"decoder.layers.0.self_attention.linear_qkv.weight", {64, 32}},
      {"decoder.layers.0.self_attention.linear_qkv.bias", {64}},
      {"decoder.layers.0.self_attention.q_layernorm.weight", {8}},
      {"decoder.layers.0.self_attention.q_layernorm.bias", {8}},
      {"decoder.layers.0.self_attention.k_layernorm.weight", {8}},
      {"decoder.layers.0.self_attention.k_layernorm.bias", {8}},
      {"decoder.layers.0.self_attention.linear_proj.weight", {32, 32}},
      {"decoder.layers.0.self_attention.linear_proj.bias", {32}},
      {"decoder.layers.0.pre_mlp_layernorm.weight", {32}},
      {"decoder.layers.0.pre_mlp_layernorm.bias", {32}},
      {"decoder.layers.0.mlp.linear_fc1.weight", {48, 32}},
      {"decoder.layers.0.mlp.linear_fc1.bias", {48}},
      {"decoder.layers.0.mlp.linear_fc2.weight", {32, 24}},
      {"decoder.layers.0.mlp.linear_fc2.bias", {32}},
      {"decoder.final_layernorm.weight", {32}},
      {"decoder.final_layernorm.bias", {32}},
      {"output_layer.weight", {50, 32}}};
  std::map<std::string, std::vector<int64_t>> got;
  for (const std::string& name : model.parameter_names()) {
    got[name] = model.declaration(name).declaration->global_shape();
  }
  EXPECT_EQ(got, want);
}

TEST(GptTable, SaysHowToCutInitializeAndDecay) {
  const ModelHarness model(gpt({{"num_query_groups", 2}, {"gated_linear_unit", true}, {"ffn_hidden_size", 24}}));
  const auto row = [&](const char* name) -> const slw_param_decl& { return model.declaration(name).decl(); };
  const slw_param_decl& qkv = row("decoder.layers.2.self_attention.linear_qkv.weight");
  EXPECT_EQ(qkv.block_repeat, 2);
  ASSERT_EQ(qkv.num_blocks, 3u);
  EXPECT_EQ(qkv.blocks[0]->rows, 16);
  EXPECT_EQ(qkv.blocks[1]->rows, 8);
  EXPECT_EQ(qkv.flags, uint32_t{SLW_PARAM_MATRIX});
  EXPECT_STREQ(qkv.unit, "decoder.layers.2");
  EXPECT_EQ(qkv.init_b, 0.02);
  const slw_param_decl& fc1 = row("decoder.layers.0.mlp.linear_fc1.weight");
  EXPECT_EQ(fc1.cuts[0]->parts, 2);
  EXPECT_EQ(fc1.cuts[0]->dim, 0);
  const slw_param_decl& fc2 = row("decoder.layers.0.mlp.linear_fc2.weight");
  EXPECT_EQ(fc2.cuts[0]->dim, 1);
  EXPECT_DOUBLE_EQ(fc2.init_b, 0.02 / std::sqrt(8.0));
  EXPECT_EQ(row("decoder.layers.0.mlp.linear_fc2.bias").num_cuts, 0u);
  EXPECT_EQ(row("decoder.final_layernorm.weight").init, SLW_INIT_ONES);
  EXPECT_EQ(row("decoder.final_layernorm.weight").flags, uint32_t{SLW_PARAM_NO_WEIGHT_DECAY});
  EXPECT_EQ(row("embedding.word_embeddings.weight").flags, uint32_t{SLW_PARAM_EMBEDDING});
  EXPECT_EQ(row("output_layer.weight").flags, uint32_t{SLW_PARAM_OUTPUT});
}

TEST(GptTable, TiesTheHeadAcrossStages) {
  ModelSetup setup = gpt({{"share_embeddings_and_output_weights", true}});
  setup.num_stages = 2;
  const ModelHarness model(setup);
  const Param& word = model.declaration("embedding.word_embeddings.weight");
  EXPECT_STREQ(word.decl().tie, "embedding.word_embeddings.weight");
  EXPECT_EQ(word.decl().flags, uint32_t{SLW_PARAM_EMBEDDING | SLW_PARAM_OUTPUT});
  for (const std::string& name : model.parameter_names()) EXPECT_NE(name, "output_layer.weight");
}

TEST(GptTable, WidensTheMlpByDefaultAsMegatronDoes) {
  const auto fc2 = [](const nlohmann::json& more) {
    const ModelHarness model(gpt(more));
    return model.declaration("decoder.layers.0.mlp.linear_fc2.weight").declaration->global_shape()[1];
  };
  EXPECT_EQ(fc2(nlohmann::json::object()), 128);
  EXPECT_EQ(fc2({{"hidden_size", 96}, {"gated_linear_unit", true}}), 256);
}

// ---- refusals ----

TEST(GptRefuses, HeadsThatDoNotDivide) {
  EXPECT_THAT(refusal(gpt({{"hidden_size", 34}})), HasSubstr("hidden_size 34 has to be a multiple of "
                                                             "num_attention_heads 4; nearest: hidden_size 32 or 36, or "
                                                             "num_attention_heads 2 or 17"));
  EXPECT_THAT(refusal(gpt({{"num_query_groups", 3}})), HasSubstr("num_query_groups 2 or 4"));
}

TEST(GptRefuses, OddRotation) {
  const std::string text =
      refusal(gpt({{"position_embedding_type", "rope"}, {"kv_channels", 10}, {"rotary_percent", 0.5}}));
  EXPECT_THAT(text, HasSubstr("int(10 channels x rotary_percent 0.5) = 5"));
  EXPECT_THAT(text, HasSubstr("rotary_percent 0.4 or 0.6"));
}

TEST(GptRefuses, OptionsWithoutEffect) {
  EXPECT_THAT(refusal(gpt({{"rotary_percent", 0.5}})), HasSubstr("rotary_percent 0.5 would have no effect"));
  EXPECT_THAT(refusal(gpt({{"position_embedding_type", "rope"}, {"rope_scaling_factor", 4.0}})),
              HasSubstr("rope_scaling is false"));
}

TEST(GptRefuses, WindowsThatLookAhead) {
  for (const nlohmann::json& window : {nlohmann::json{8, 1}, nlohmann::json{-1, 0}, nlohmann::json(8)}) {
    EXPECT_THAT(refusal(gpt({{"window_size", window}})), HasSubstr("[w, 0]"));
  }
}

TEST(GptRefuses, FusionsThatDoNotExist) {
  EXPECT_THAT(refusal(gpt({{"bias_activation_fusion", true}, {"activation_func", "relu"}})),
              HasSubstr("bias_activation_fusion"));
  EXPECT_THAT(refusal(gpt({{"bias_activation_fusion", true}, {"add_bias_linear", false}})),
              HasSubstr("add_bias_linear"));
}

TEST(GptRefuses, SequencesLongerThanThePositionTable) {
  EXPECT_THAT(refusal(gpt({{"max_position_embeddings", 12}})), HasSubstr("seq_length 13"));
}

TEST(GptRefuses, DropoutOfEverything) { EXPECT_THAT(refusal(gpt({{"hidden_dropout", 1.0}})), HasSubstr("below 1")); }

TEST(GptRefuses, GatedMlpOfNoWidth) {
  EXPECT_THAT(refusal(gpt({{"hidden_size", 16}, {"gated_linear_unit", true}})), HasSubstr("set ffn_hidden_size"));
}

// ---- numbers ----

// With all weights zero but the embedding and the head, logits are the head applied to the final norm of what embedding
// dropout leaves: with a one-hot embedding its zeros can be read off.
TEST(GptDropout, FollowsTheCounterOfPhilox) {
  constexpr double kRate = 0.4;
  ModelSetup setup = gpt({{"num_layers", 1}, {"position_embedding_type", "none"}, {"hidden_dropout", kRate}});
  ModelHarness model(setup);
  for (const std::string& name : model.parameter_names()) {
    const bool is_norm = name.find("layernorm.weight") != std::string::npos;
    const auto count = static_cast<std::size_t>(element_count(model.declaration(name).local.shape));
    std::vector<float> values(count, is_norm || name == "embedding.word_embeddings.weight" ? 1.0f : 0.0f);
    if (name == "output_layer.weight") {
      for (std::size_t i = 0; i < 32; ++i) values[i * 32 + i] = 1.0f;
    }
    model.set(name, values);
  }
  ModelBatch batch = batch_of(0);
  batch.sample_ids = {3, int64_t{5} << 33, 0, 8};
  const PassResult result = model.forward(batch, {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, true});
  const uint64_t key = slw_philox_key(setup.seed, "dropout", "embedding");
  for (int64_t row = 0; row < kBatch * kLength; ++row) {
    const auto sample = static_cast<uint64_t>(batch.sample_ids[static_cast<std::size_t>(row / kLength)]);
    for (uint32_t c = 0; c < 32; ++c) {
      const slw_philox_block block = slw_philox(key, c / 4, static_cast<uint32_t>(row % kLength),
                                                static_cast<uint32_t>(sample), static_cast<uint32_t>(sample >> 32));
      const bool is_dropped = block.lane[c % 4] < slw_dropout_threshold(kRate);
      EXPECT_EQ(result.logits[static_cast<std::size_t>(row * kVocab + c)] < 0, is_dropped) << row << " " << c;
    }
  }
}

TEST(GptDropout, DiffersByPlaceAndSampleAndKeepsTheMean) {
  ModelHarness model(gpt({{"hidden_dropout", 0.3}, {"attention_dropout", 0.3}}));
  model.initialize();
  const double base = model.forward(batch_of(0), {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, false}).loss_sum;
  ModelBatch moved = batch_of(0);
  for (int64_t& id : moved.sample_ids) id += 100;
  const double other = model.forward(moved, {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, false}).loss_sum;
  EXPECT_NE(base, other);
  EXPECT_NEAR(base, other, 0.1 * base);
}

TEST(GptLoss, TakesLabelsOutsideTheVocabularyWhenTheyAreMasked) {
  ModelHarness model(gpt());
  model.initialize();
  ModelBatch batch = batch_of(0);
  const double loss = model.forward(batch, {0, SLW_FWD_NO_SAVE, false}).loss_sum;
  for (std::size_t t = 0; t < batch.labels.size(); ++t) {
    if (batch.loss_mask[t] == 0) batch.labels[t] = -1;
  }
  EXPECT_EQ(model.forward(batch, {}).loss_sum, loss);
  model.backward(0, 1.0);
  for (const auto& [name, gradient] : gradients_of(model)) {
    for (const float g : gradient) ASSERT_TRUE(std::isfinite(g)) << name;
  }
}

TEST(GptPositions, AreTakenFromTheDataWhenItHasThem) {
  ModelHarness model(gpt());
  model.initialize();
  ModelBatch batch = batch_of(0);
  const double loss = model.forward(batch, {0, SLW_FWD_NO_SAVE, false}).loss_sum;
  for (int64_t i = 0; i < kBatch * kLength; ++i) batch.position_ids.push_back(i % kLength % 4);
  EXPECT_NE(model.forward(batch, {0, SLW_FWD_NO_SAVE, false}).loss_sum, loss);
  batch.position_ids[3] = kLength;
  EXPECT_THROW(model.forward(batch, {0, SLW_FWD_NO_SAVE, false}), Error);
}

TEST(GptCost, CountsFlopsAsMegatronDoes) {
  // L=2 h=64 ffn=256 heads=4 s=128 B=4 V=1024, no gate: 553,648,128 forward and backward.
  ModelSetup setup = gpt({{"num_layers", 2}, {"hidden_size", 64}});
  setup.batch_size = 4;
  setup.seq_length = 128;
  setup.vocab_size = 1000;
  setup.padded_vocab_size = 1024;
  for (const int stages : {1, 2}) {
    setup.num_stages = stages;
    ModelHarness model(setup);
    double flops = 0;
    for (int i = 0; i < stages; ++i) {
      const slw_cost cost = model.cost(i);
      flops += cost.flops_forward + cost.flops_backward;
    }
    EXPECT_DOUBLE_EQ(flops, 553648128.0);
  }
}

}  // namespace
}  // namespace slipway
