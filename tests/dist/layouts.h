// What the tests of layouts share: options that make a layout, and what "the same numbers" means.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/training_run.h"

namespace slipway {

using Options = std::vector<std::string>;

inline Options operator+(Options a, const Options& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Options sizes(int tp, int pp, int vpp = 1) {
  const Options options{"--tensor-model-parallel-size", std::to_string(tp), "--pipeline-model-parallel-size",
                        std::to_string(pp)};
  return vpp == 1 ? options : options + Options{"--virtual-pipeline-model-parallel-size", std::to_string(vpp)};
}

inline const Options kDistOpt{"--data-parallel.use", "distributed_optimizer"};
inline const Options kSequenceParallel{"--sequence-parallel"};

inline nlohmann::json four_layers() {
  nlohmann::json manifest = small_gpt_manifest();
  manifest["model"]["num_layers"] = 4;
  return manifest;
}

// What is added to every key alike moves no attention weight: the key part of linear_qkv.bias, and k_layernorm.bias,
// have no true gradient, and Adam turns rounding noise into steps of size lr.
inline void ignore_keyless_bias(Weights& weights) {
  std::erase_if(weights, [](const auto& item) {
    return item.first.ends_with("linear_qkv.bias") || item.first.ends_with("k_layernorm.bias");
  });
}

inline void expect_same_numbers(TrainingRun a, TrainingRun b) {
  constexpr double kTolerance = 1e-5;
  EXPECT_EQ(a.initial, b.initial);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t s = 0; s < a.steps.size(); ++s) {
    EXPECT_NEAR(a.steps[s].loss, b.steps[s].loss, kTolerance * a.steps[s].loss) << "step " << s + 1;
    EXPECT_NEAR(a.steps[s].grad_norm, b.steps[s].grad_norm, kTolerance * a.steps[s].grad_norm) << "step " << s + 1;
    EXPECT_EQ(a.steps[s].learning_rate, b.steps[s].learning_rate);
  }
  ignore_keyless_bias(a.final);
  ignore_keyless_bias(b.final);
  EXPECT_LE(largest_difference(a.final, b.final), kTolerance);
}

inline void expect_same_bits(const TrainingRun& a, const TrainingRun& b) {
  EXPECT_EQ(a.initial, b.initial);
  EXPECT_EQ(a.final, b.final);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (size_t s = 0; s < a.steps.size(); ++s) {
    EXPECT_EQ(a.steps[s].loss, b.steps[s].loss) << "step " << s + 1;
    EXPECT_EQ(a.steps[s].grad_norm, b.steps[s].grad_norm) << "step " << s + 1;
  }
}

}  // namespace slipway
