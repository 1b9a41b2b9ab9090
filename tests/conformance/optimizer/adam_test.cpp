// What is adam's own: its options, blocks with gaps, and its memory of nothing at late steps.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/conformance/optimizer/problem.h"

namespace {

const slw_component& adam() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_adam.so"), SLW_KIND_OPTIMIZER, "adam");
}

slw_status create_status(const std::string& options, std::string* text, slw_device device = {SLW_DEVICE_CPU, 0}) {
  const auto& table = *static_cast<const slw_optimizer_vtable*>(adam().vtable);
  ToyHost host;
  slw_run_info run = plain_run();
  run.device = device;
  ErrorText error;
  slw_optimizer* optimizer = nullptr;
  const std::string config = complete_config(adam(), options);
  const slw_status status = table.create(host.get(), config.c_str(), &run, &optimizer, error.get());
  if (status == SLW_OK) table.destroy(optimizer);
  *text = error.text();
  return status;
}

TEST(Adam, RefusesOptionsOutOfRange) {
  std::string text;
  for (const char* name : {"adam_beta1", "adam_beta2", "adam_eps"}) {
    for (const char* value : {"-0.1", "\"0.9\"", "null"}) {
      const std::string options = std::string("{\"") + name + "\": " + value + "}";
      EXPECT_EQ(create_status(options, &text), SLW_INVALID_ARGUMENT) << options;
      EXPECT_NE(text.find(name), std::string::npos) << text;
    }
  }
  EXPECT_EQ(create_status(R"({"adam_beta1": 1})", &text), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(create_status(R"({"adam_beta1": 0, "adam_beta2": 0, "adam_eps": 0})", &text), SLW_OK) << text;
}

TEST(Adam, RefusesCudaMemory) {
  std::string text;
  EXPECT_EQ(create_status("{}", &text, {SLW_DEVICE_CUDA, 0}), SLW_UNSUPPORTED);
  EXPECT_NE(text.find("CPU"), std::string::npos) << text;
}

TEST(Adam, NamesItsStates) {
  OptimizerInstance optimizer(adam());
  const auto declared = optimizer.declare(matrix_declaration());
  EXPECT_EQ(declared.layouts, uint32_t{SLW_LAYOUT_FLAT | SLW_LAYOUT_PARAM});
  const std::vector<OptimizerSlot> expected{{"exp_avg", slw::f32, SLW_STATE_LIKE_SHARD, 0.0},
                                            {"exp_avg_sq", slw::f32, SLW_STATE_LIKE_SHARD, 0.0}};
  EXPECT_EQ(declared.slots, expected);
}

// The q rows of a fused weight: 3 groups of 4 rows, of which the first 2 belong to the block.
TEST(Adam, BlocksWithGapsEqualFlatSlices) {
  constexpr int64_t kGroups = 3, kRows = 2, kGroupRows = 4, kCols = 5, kSize = kGroups * kGroupRows * kCols;
  OptimizerInstance optimizer(adam(), "{}", 2);
  const std::vector<OptimizerSlot> slots = optimizer.declare(matrix_declaration()).slots;
  Problem flat = make_problem(kSize, slots), blocks = flat;
  for (int64_t group = 0; group < kGroups; ++group) {
    const int64_t begin = group * kGroupRows * kCols;
    step_pieces(optimizer, flat, {begin, begin + kRows * kCols});
  }
  const auto view = [&](std::vector<float>& numbers) {
    return strided_view(numbers.data(), {kGroups, kRows, kCols}, {kGroupRows * kCols, kCols, 1});
  };
  TestShard shard(view(blocks.param), view(blocks.grad), {view(blocks.states[0]), view(blocks.states[1])});
  optimizer.step({shard.get()});
  EXPECT_EQ(blocks, flat);

  Problem packed = make_problem(kSize, slots);  // states without the gaps
  std::vector<float> first(kGroups * kRows * kCols), second(first.size());
  const auto dense = [&](std::vector<float>& numbers) {
    return strided_view(numbers.data(), {kGroups, kRows, kCols}, {kRows * kCols, kCols, 1});
  };
  TestShard mixed(view(packed.param), view(packed.grad), {dense(first), dense(second)});
  optimizer.step({mixed.get()});
  EXPECT_EQ(packed.param, flat.param);
}

TEST(Adam, AddsWeightDecayToTheGradientWhenCoupled) {
  OptimizerInstance optimizer(adam(), R"({"decoupled_weight_decay": false})");
  Problem with_decay{{2.0f}, {0.5f}, {{0.0f}, {0.0f}}}, as_gradient{{2.0f}, {0.5f + 0.1f * 2.0f}, {{0.0f}, {0.0f}}};
  step_pieces(optimizer, with_decay, {0, 1});
  OptimizerInstance without(adam());
  TestShard shard(flat_view(as_gradient.param.data(), 1), flat_view(as_gradient.grad.data(), 1),
                  {flat_view(as_gradient.states[0].data(), 1), flat_view(as_gradient.states[1].data(), 1)});
  shard->weight_decay = 0.0;
  without.step({shard.get()});
  EXPECT_EQ(with_decay.param, as_gradient.param);
  EXPECT_EQ(with_decay.states, as_gradient.states);
}

TEST(Adam, BiasCorrectionVanishesAtLateSteps) {
  OptimizerInstance optimizer(adam());
  Problem late{{1.0f}, {0.5f}, {{0.5f}, {0.25f}}};
  step_pieces(optimizer, late, {0, 1}, {1'000'000'000'000});
  EXPECT_NEAR(late.param[0], (1.0 - 0.01 * 0.1) - 0.01 * 0.5 / (0.5 + 1e-8), 1e-6);
  EXPECT_TRUE(std::isfinite(late.param[0]));
}

}  // namespace
