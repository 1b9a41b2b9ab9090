// `slipway plan`: what it says of memory against what runs really took, large worlds, and refusals.
#include "core/base/timer.h"
#include "tests/e2e/train/train_command.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Json = nlohmann::json;
using Options = std::vector<std::string>;

class Plan : public TrainCommand {
 protected:
  static ProgramResult plan(int world, const Options& options) {
    Options command{built_program("slipway"), "plan",         "--manifest",
                    manifest("tiny.json"),    "--world-size", std::to_string(world)};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command);
  }
  static Json plan_json(int world, Options options) {
    options.emplace_back("--json");
    const ProgramResult result = plan(world, options);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    return Json::parse(result.out);
  }
  static void expect_refusal(int world, const Options& options, const testing::Matcher<std::string>& says) {
    const ProgramResult result = plan(world, options);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.out, says);
  }
};

struct MemoryCase {
  const char* name;
  int world;
  Options options;
};

class PlannedMemory : public Plan, public testing::WithParamInterface<MemoryCase> {};

int64_t total_of(const Json& bytes) {
  int64_t total = 0;
  for (const auto& [name, value] : bytes.items()) total += name == "rank" ? 0 : value.get<int64_t>();
  return total;
}

// Of the whole, and of activations alone.
TEST_P(PlannedMemory, IsWithinTenPercentOfWhatARunTook) {
  const MemoryCase& c = GetParam();
  const Json planned = plan_json(c.world, c.options);
  Options options{"--manifest", manifest("tiny.json"), "--cpu-threads",        "1", "--train-iters",
                  "3",          "--nproc-per-node",    std::to_string(c.world)};
  options.insert(options.end(), c.options.begin(), c.options.end());
  train_well("run", options);
  std::ifstream file(run("run") / "memory.json");
  const Json seen = Json::parse(file).at("bytes");
  ASSERT_EQ(seen.size(), static_cast<size_t>(c.world));
  const auto ranks_per_stage = seen.size() / planned.at("pipeline_ranks").size();
  for (size_t rank = 0; rank < seen.size(); ++rank) {
    const Json& said = planned["pipeline_ranks"][rank / ranks_per_stage]["memory_bytes"];
    const double total = static_cast<double>(total_of(seen[rank]));
    EXPECT_NEAR(said["total"].get<double>(), total, 0.1 * total) << seen[rank];
    const auto activations = seen[rank]["activations"].get<double>();
    EXPECT_NEAR(said["activations"].get<double>(), activations, 0.1 * activations) << seen[rank];
    EXPECT_EQ(said["parameters"], seen[rank]["parameters"]);
    EXPECT_EQ(said["gradients"], seen[rank]["gradients"]);
    EXPECT_EQ(said["data"], seen[rank]["data"]);
  }
}

Options sizes(int tp, int pp, const Options& more = {}) {
  Options options{"--tensor-model-parallel-size", std::to_string(tp), "--pipeline-model-parallel-size",
                  std::to_string(pp)};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

INSTANTIATE_TEST_SUITE_P(
    Of, PlannedMemory,
    testing::Values(MemoryCase{"one", 1, {}}, MemoryCase{"tp2", 2, sizes(2, 1)},
                    MemoryCase{"tp2sp", 2, sizes(2, 1, {"--sequence-parallel"})}, MemoryCase{"pp2", 2, sizes(1, 2)},
                    MemoryCase{"pp2vpp2", 2, sizes(1, 2, {"--virtual-pipeline-model-parallel-size", "2"})},
                    MemoryCase{"pp2recompute", 2, sizes(1, 2, {"--recompute-granularity", "full"})},
                    MemoryCase{"dp2", 2, sizes(1, 1)},
                    MemoryCase{"dp2distopt", 2, sizes(1, 1, {"--data-parallel.use", "distributed_optimizer"})},
                    MemoryCase{"tp2sppp2distopt", 4,
                               sizes(2, 2, {"--sequence-parallel", "--data-parallel.use", "distributed_optimizer"})}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(Plan, TellsAPersonEverything) {
  const ProgramResult result = plan(8, sizes(2, 2, {"--virtual-pipeline-model-parallel-size", "2"}));
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("8 ranks = tensor 2 x pipeline 2 (2 chunks each)"), HasSubstr("bubble"),
                                HasSubstr("memory per rank"), HasSubstr("communication per rank and step"),
                                HasSubstr("rank 0 |"), HasSubstr("numbers do not depend on the layout")));
  EXPECT_THAT(plan(1, {"--loss-normalization", "microbatch"}).out, HasSubstr("numbers depend on the layout:"));
}

TEST_F(Plan, StagesHoldTheWholeModelOnce) {
  const Json one = plan_json(1, {}), four = plan_json(4, sizes(1, 4));
  int64_t sum = 0;
  for (const Json& rank : four["pipeline_ranks"]) sum += rank["chunks"][0]["parameters"].get<int64_t>();
  EXPECT_EQ(sum, one["model"]["parameters"].get<int64_t>());
  EXPECT_EQ(four["pipeline_ranks"][3]["chunks"][0]["layers"], Json({6, 8}));
  EXPECT_NEAR(four["step"]["flops"].get<double>(), one["step"]["flops"].get<double>(), 1.0);
}

// The largest runs there are take seconds to plan.
TEST_F(Plan, SixteenThousandRanks) {
  const Timer timer;
  const Json planned =
      plan_json(16384, sizes(4, 8, {"--data-parallel.use", "distributed_optimizer", "--global-batch-size", "8192"}));
  EXPECT_EQ(planned["layout"]["dp"], 512);
  EXPECT_EQ(planned["step"]["num_microbatches"], 16);
  EXPECT_EQ(planned["groups"]["world"][0].size(), 16384u);
  EXPECT_LT(timer.seconds(), 30);
}

TEST_F(Plan, RefusesWhatTheRunWouldRefuse) {
  expect_refusal(8, {"--global-batch-size", "12"}, AllOf(HasSubstr("12"), HasSubstr("8 or 16")));
  expect_refusal(6, sizes(4, 1), AllOf(HasSubstr("number of ranks is 6"), HasSubstr("4 or 8")));
  expect_refusal(8, sizes(8, 1), AllOf(HasSubstr("num_query_groups 4"), HasSubstr("nearest")));
  expect_refusal(3, sizes(1, 3), AllOf(HasSubstr("num_layers = 8"), HasSubstr("6 or 9")));
  expect_refusal(2, {"--context-parallel-size", "2"}, HasSubstr("context_parallel_size is 2"));
  expect_refusal(2, sizes(1, 2, {"--pipeline-model-parallel-layout", "Et*4|t*3L"}),
                 AllOf(HasSubstr("7 layers (t), the model 8")));
  expect_refusal(0, {}, HasSubstr("--world-size is \"0\""));
}

}  // namespace
}  // namespace slipway
