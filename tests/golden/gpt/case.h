// One case of the golden folder megatron_gpt: how it maps onto the gpt plugin and what it expects.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/model_harness.h"

namespace slipway::golden {

struct GptCase {
  std::string name;
  std::filesystem::path folder;  // where io.safetensors and grads.safetensors may lie
  nlohmann::json json;
  uint64_t seed = 0;
  ModelSetup setup;
};

// `path` is a case.json, or a file of variants/. Throws for a config key that the gpt plugin does not know.
GptCase read_gpt_case(const std::filesystem::path& path);

// The batch by the value rule.
ModelBatch make_batch(const GptCase& c);

// The plugin with the case's weights.
std::unique_ptr<ModelHarness> make_model(const GptCase& c, const ModelSetup& setup);

double sum_of_mask(const ModelBatch& batch);

}  // namespace slipway::golden
