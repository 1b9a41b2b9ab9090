// What the gpt model says it costs, against Megatron-LM's count. Cases with experts wait for a model that has them and
// are printed.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <map>

#include "plugins/gpt/cost.h"
#include "tests/support/golden_values.h"

namespace slipway {
namespace {

using nlohmann::json;

struct Case {
  gpt::GptConfig config;
  std::int64_t batch_size = 0, seq_length = 0;
};

Case read_case(const json& args) {
  Case c;
  transformer::TransformerConfig& layers = c.config.layers;
  const std::map<std::string, std::function<void(const json&)>> setters = {
      {"num_layers", [&](const json& value) { layers.num_layers = value; }},
      {"hidden_size", [&](const json& value) { layers.hidden = value; }},
      {"num_attention_heads", [&](const json& value) { layers.heads = value; }},
      {"ffn_hidden_size", [&](const json& value) { layers.ffn = value; }},
      {"kv_channels", [&](const json& value) { layers.head_dim = value; }},
      {"swiglu", [&](const json& value) { layers.gated = value; }},
      {"group_query_attention", [](const json& value) { EXPECT_EQ(value, true); }},
      {"num_query_groups", [&](const json& value) { layers.query_groups = value; }},
      {"seq_length", [&](const json& value) { c.seq_length = value; }},
      {"padded_vocab_size", [&](const json& value) { c.config.padded_vocab_size = value; }},
      {"batch_size", [&](const json& value) { c.batch_size = value; }}};
  for (const auto& [key, value] : args.items()) {
    const auto setter = setters.find(key);
    if (setter == setters.end()) {
      ADD_FAILURE() << "the golden case has a key that this test does not know: " << key;
    } else {
      setter->second(value);
    }
  }
  if (layers.query_groups == 0) layers.query_groups = layers.heads;
  return c;
}

double flops_of(const Case& c) {
  slw_stage stage = slw::make<slw_stage>();
  stage.layer_end = static_cast<std::int32_t>(c.config.layers.num_layers);
  stage.post_process = 1;
  slw_io_args args = slw::make<slw_io_args>();
  args.stage = &stage;
  args.batch_size = c.batch_size;
  args.seq_length = c.seq_length;
  slw_cost_sink nobody = slw::make<slw_cost_sink>();  // one rank: there is no communication to tell of
  slw::CostSink costs(&nobody);
  const slw_cost cost = gpt::cost_of(c.config, args, costs);
  return cost.flops_forward + cost.flops_backward;
}

TEST(GoldenFlops, GptCostsWhatMegatronCounts) {
  const json file = golden::read_json(golden::folder() / "schedule" / "flops.json");
  std::size_t checked = 0;
  for (const json& golden : file.at("cases")) {
    if (golden.at("args").contains("num_experts")) {
      std::cout << "not covered yet: " << golden.at("args") << "\n";
      continue;
    }
    const double expected = golden.at("flops");
    EXPECT_NEAR(flops_of(read_case(golden.at("args"))), expected, 1e-15 * expected) << golden.at("args");
    ++checked;
  }
  EXPECT_GE(checked, 3U);
}

}  // namespace
}  // namespace slipway
