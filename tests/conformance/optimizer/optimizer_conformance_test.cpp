// What every optimizer owes its host. Each case runs on every optimizer component in build/lib/slipway/plugins. The
// numbers are compared on flat slices; an optimizer that takes none skips those cases.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/conformance/optimizer/problem.h"

namespace {

class OptimizerConformance : public ::testing::TestWithParam<Subject> {
 protected:
  const slw_component& component() const { return *GetParam().component; }
  const slw_optimizer_vtable& table() const { return *static_cast<const slw_optimizer_vtable*>(component().vtable); }
};

class FlatOptimizer : public OptimizerConformance {
 protected:
  void SetUp() override {
    OptimizerInstance optimizer(component());
    const auto declared = optimizer.declare(matrix_declaration());
    slots_ = declared.slots;
    if ((declared.layouts & SLW_LAYOUT_FLAT) == 0) GTEST_SKIP() << "takes no flat slices";
  }
  Problem problem(int64_t n) const { return make_problem(n, slots_); }

  std::vector<OptimizerSlot> slots_;
};

TEST_P(OptimizerConformance, TableIsComplete) {
  EXPECT_GE(table().struct_size, SLW_SIZE_TO(slw_optimizer_vtable, step));
  EXPECT_NE(table().create, nullptr);
  EXPECT_NE(table().destroy, nullptr);
  EXPECT_NE(table().declare, nullptr);
  EXPECT_NE(table().step, nullptr);
}

TEST_P(OptimizerConformance, OptionsExplainThemselves) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < component().num_options; ++i) {
    const slw_option& option = *component().options[i];
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_GT(std::string(option.help).size(), 5u) << option.name;
    for (const char* json : {option.default_json, option.min_json, option.max_json}) {
      EXPECT_TRUE(json == nullptr || nlohmann::json::accept(json)) << option.name << ": " << json;
    }
  }
}

TEST_P(OptimizerConformance, RefusesOptionsThatAreNoObject) {
  ToyHost host;
  const slw_run_info run = plain_run();
  for (const char* config : {"", "{", "[]", "7"}) {
    ErrorText error;
    slw_optimizer* optimizer = nullptr;
    EXPECT_EQ(table().create(host.get(), config, &run, &optimizer, error.get()), SLW_INVALID_ARGUMENT) << config;
    EXPECT_EQ(optimizer, nullptr);
    EXPECT_NE(error.text(), "") << config;
    EXPECT_EQ(table().create(host.get(), config, &run, &optimizer, nullptr), SLW_INVALID_ARGUMENT) << config;
  }
}

TEST_P(OptimizerConformance, RefusesFlagsItDoesNotKnow) {
  ToyHost host;
  slw_run_info run = plain_run();
  run.flags = 1u << 15;
  ErrorText error;
  slw_optimizer* optimizer = nullptr;
  const std::string config = complete_config(component(), "{}");
  EXPECT_EQ(table().create(host.get(), config.c_str(), &run, &optimizer, error.get()), SLW_UNSUPPORTED);
}

TEST_P(OptimizerConformance, DeclarationsDoNotDependOnTheRank) {
  OptimizerInstance one(component()), other(component(), "{}", 3);
  const auto declared = one.declare(matrix_declaration());
  constexpr uint32_t kKnown = SLW_LAYOUT_FLAT | SLW_LAYOUT_PARAM | SLW_LAYOUT_GLOBAL;
  EXPECT_NE(declared.layouts & kKnown, 0u);
  EXPECT_EQ(declared.layouts & ~kKnown, 0u);
  EXPECT_EQ(other.declare(matrix_declaration()).layouts, declared.layouts);
  EXPECT_EQ(other.declare(matrix_declaration()).slots, declared.slots);
  std::set<std::string> names;
  for (const OptimizerSlot& slot : declared.slots) EXPECT_TRUE(names.insert(slot.name).second) << slot.name;
}

TEST_P(FlatOptimizer, SplitsGiveTheSameBits) {
  constexpr int64_t kSize = 5003;
  OptimizerInstance optimizer(component());
  Problem whole = problem(kSize);
  step_often(optimizer, whole, 3);
  for (const int pieces : {1, 2, 7}) {
    for (uint32_t seed = 0; seed < 5; ++seed) {
      Problem cut = problem(kSize);
      for (int64_t step = 1; step <= 3; ++step) {
        cut.grad = normal_numbers(kSize, static_cast<uint32_t>(10 + step), 0.1f);
        step_pieces(optimizer, cut, random_cuts(kSize, pieces, seed), {step});
      }
      EXPECT_EQ(cut, whole) << pieces << " pieces, seed " << seed;
    }
  }
}

TEST_P(FlatOptimizer, SeparateCallsGiveTheSameBits) {
  constexpr int64_t kSize = 777;
  OptimizerInstance optimizer(component());
  Problem together = problem(kSize), apart = together;
  step_pieces(optimizer, together, {0, 100, kSize});
  step_pieces(optimizer, apart, {100, kSize});
  step_pieces(optimizer, apart, {0, 100});
  EXPECT_EQ(apart, together);
}

TEST_P(FlatOptimizer, UnalignedMemoryGivesTheSameBits) {
  constexpr int64_t kSize = 1000;
  OptimizerInstance optimizer(component());
  Problem plain = problem(kSize);
  step_pieces(optimizer, plain, {0, kSize});
  for (std::size_t shift = 1; shift <= 17; ++shift) {
    Problem shifted = problem(kSize);
    std::deque<std::vector<float>> memory;
    const auto moved = [&](const std::vector<float>& numbers) {  // each array by another distance
      std::vector<float>& block = memory.emplace_back(shift * (memory.size() + 1), 0.0f);
      block.insert(block.end(), numbers.begin(), numbers.end());
      return flat_view(block.data() + shift * memory.size(), kSize);
    };
    FloatView param = moved(shifted.param), grad = moved(shifted.grad);
    std::vector<FloatView> states;
    for (const std::vector<float>& state : shifted.states) states.push_back(moved(state));
    const float* result = static_cast<const float*>(param.tensor.data);
    TestShard shard(std::move(param), std::move(grad), std::move(states));
    optimizer.step({shard.get()});
    EXPECT_EQ(std::vector<float>(result, result + kSize), plain.param) << "shift " << shift;
  }
}

TEST_P(FlatOptimizer, ThreadsDoNotChangeBits) {
  constexpr int64_t kSize = 300'007;
  OptimizerInstance alone(component());
  Problem expected = problem(kSize);
  step_often(alone, expected, 2);
  for (const int threads : {1, 2, 5}) {
    OptimizerInstance optimizer(component(), "{}", threads);
    Problem other = problem(kSize);
    step_often(optimizer, other, 2);
    EXPECT_EQ(other, expected) << threads << " threads";
  }
}

TEST_P(FlatOptimizer, KeepsNothingBetweenSteps) {
  constexpr int64_t kSize = 513;
  OptimizerInstance lasting(component());
  Problem expected = problem(kSize), other = expected;
  step_often(lasting, expected, 4);
  for (int64_t step = 1; step <= 4; ++step) {
    OptimizerInstance fresh(component());
    other.grad = normal_numbers(kSize, static_cast<uint32_t>(10 + step), 0.1f);
    step_pieces(fresh, other, {0, kSize}, {step});
  }
  EXPECT_EQ(other, expected);
}

TEST_P(FlatOptimizer, ChangesNeitherTheGradientNorItsNeighbours) {
  constexpr int64_t kSize = 301, kBegin = 40, kEnd = 261;
  OptimizerInstance optimizer(component());
  const Problem before = problem(kSize);
  Problem after = before;
  step_pieces(optimizer, after, {kBegin, kEnd});
  EXPECT_EQ(after.grad, before.grad);
  EXPECT_NE(after.param, before.param);
  for (int64_t i = 0; i < kSize; ++i) {
    if (i >= kBegin && i < kEnd) continue;
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(after.param[at], before.param[at]) << i;
    for (std::size_t s = 0; s < slots_.size(); ++s) EXPECT_EQ(after.states[s][at], before.states[s][at]) << i;
  }
}

TEST_P(FlatOptimizer, GradScaleMultipliesTheGradient) {
  constexpr int64_t kSize = 999;
  OptimizerInstance optimizer(component());
  for (const double scale : {0.3, 1.0 / 3.0, 65536.0, 1e-7}) {
    Problem scaled = problem(kSize), multiplied = scaled;
    for (float& g : multiplied.grad) g *= static_cast<float>(scale);
    step_pieces(optimizer, scaled, {0, kSize}, {1, scale});
    step_pieces(optimizer, multiplied, {0, kSize}, {1, 1.0});
    EXPECT_EQ(scaled.param, multiplied.param) << scale;
    EXPECT_EQ(scaled.states, multiplied.states) << scale;
  }
}

TEST_P(FlatOptimizer, GradScaleMayComeAsATensor) {
  constexpr int64_t kSize = 99;
  OptimizerInstance optimizer(component());
  Problem by_value = problem(kSize), by_tensor = by_value;
  step_pieces(optimizer, by_value, {0, kSize}, {1, 0.25});
  double scale = 0.25;
  const slw_tensor scalar{&scale, {SLW_DEVICE_CPU, 0}, 0, slw::f64, nullptr, nullptr, 0};
  std::vector<FloatView> states;
  for (std::vector<float>& state : by_tensor.states) states.push_back(flat_view(state.data(), kSize));
  TestShard shard(flat_view(by_tensor.param.data(), kSize), flat_view(by_tensor.grad.data(), kSize), std::move(states));
  const std::vector<const slw_shard*> shards{shard.get()};
  slw_opt_step_args args = step_args(shards, 777.0);
  args.grad_scale_device = &scalar;
  ErrorText error;
  ASSERT_EQ(optimizer.step(args, error.get()), SLW_OK) << error.text();
  EXPECT_EQ(by_tensor, by_value);
}

TEST_P(FlatOptimizer, LearningRateZeroKeepsTheParameters) {
  OptimizerInstance optimizer(component());
  Problem after = problem(257);
  const std::vector<float> before = after.param;
  step_pieces(optimizer, after, {0, 257}, {1, 1.0, 0.0});
  EXPECT_EQ(after.param, before);
}

TEST_P(FlatOptimizer, NoShardsIsNoWork) {
  OptimizerInstance optimizer(component(), "{}", 2);
  EXPECT_NO_THROW(optimizer.step({}));
  Problem nothing = problem(0);
  EXPECT_NO_THROW(step_pieces(optimizer, nothing, {0, 0}));
}

TEST_P(FlatOptimizer, RefusedStepChangesNothing) {
  constexpr int64_t kSize = 128;
  OptimizerInstance optimizer(component());
  const Problem before = problem(kSize);
  Problem after = before;
  std::vector<FloatView> states;
  for (std::vector<float>& state : after.states) states.push_back(flat_view(state.data(), kSize));
  TestShard good(flat_view(after.param.data(), kSize), flat_view(after.grad.data(), kSize), states);
  const auto refuses = [&](const char* what, const std::function<void(slw_shard&)>& spoil) {
    TestShard bad(flat_view(after.param.data(), kSize), flat_view(after.grad.data(), kSize), states);
    spoil(*bad);
    const std::vector<const slw_shard*> shards{good.get(), bad.get()};
    const slw_opt_step_args args = step_args(shards);
    ErrorText error;
    EXPECT_NE(optimizer.step(args, error.get()), SLW_OK) << what;
    EXPECT_NE(error.text().find(good->decl->name), std::string::npos) << what << ": " << error.text();
    EXPECT_NE(optimizer.step(args, nullptr), SLW_OK) << what;
    EXPECT_EQ(after, before) << what;
  };
  int64_t short_shape = kSize - 1;
  refuses("step 0", [](slw_shard& shard) { shard.step = 0; });
  refuses("a state too many", [](slw_shard& shard) { ++shard.num_states; });
  refuses("a gradient in double precision", [](slw_shard& shard) { shard.grad.dtype = slw::f64; });
  refuses("a gradient that is too short", [&](slw_shard& shard) { shard.grad.shape = &short_shape; });
  refuses("a parameter without memory", [](slw_shard& shard) { shard.master.data = nullptr; });
}

TEST_P(FlatOptimizer, RefusesArgumentsOfTheFuture) {
  OptimizerInstance optimizer(component());
  slw_opt_step_args args = step_args({});
  args.flags = 1u << 3;
  EXPECT_EQ(optimizer.step(args, nullptr), SLW_UNSUPPORTED);
  struct Longer {
    slw_opt_step_args args;
    uint64_t tail;
  } longer{step_args({}), 1};
  longer.args.struct_size = sizeof longer;
  EXPECT_EQ(optimizer.step(longer.args, nullptr), SLW_UNSUPPORTED);
  longer.tail = 0;
  EXPECT_EQ(optimizer.step(longer.args, nullptr), SLW_OK);
}

std::string subject_name(const ::testing::TestParamInfo<Subject>& subject) { return subject.param.name; }

INSTANTIATE_TEST_SUITE_P(Plugins, OptimizerConformance, ::testing::ValuesIn(built_components(SLW_KIND_OPTIMIZER)),
                         subject_name);
INSTANTIATE_TEST_SUITE_P(Plugins, FlatOptimizer, ::testing::ValuesIn(built_components(SLW_KIND_OPTIMIZER)),
                         subject_name);

}  // namespace
