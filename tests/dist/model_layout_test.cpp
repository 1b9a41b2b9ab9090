// Law 1 where the model is cut: kinds of gpt, ways to cut it, and what may change no bit. Dropout is on.
#include <fstream>
#include <random>

#include "core/base/error.h"
#include "core/parallel/schedule/schedule.h"
#include "core/parallel/schedule/validate.h"
#include "tests/dist/layouts.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

nlohmann::json short_run(const nlohmann::json& model = {}) {
  nlohmann::json manifest = four_layers();
  manifest["train"]["train_iters"] = rounds(4, 10);
  if (!model.is_null()) manifest["model"].update(model);
  return manifest;
}

const TrainingRun& one_rank() {
  static const TrainingRun run = run_training(short_run(), 1);
  return run;
}

TEST(ModelLayout, MicroBatchSizeChangesNothing) {
  expect_same_numbers(one_rank(), run_training(short_run(), 4, sizes(2, 2) + Options{"--micro-batch-size", "1"}));
  expect_same_numbers(one_rank(), run_training(short_run(), 4, sizes(2, 2) + Options{"--micro-batch-size", "2"}));
}

TEST(ModelLayout, VocabularyPaddingChangesNothing) {
  for (const char* multiple : {"1", "128", "512"}) {
    SCOPED_TRACE(multiple);
    expect_same_numbers(
        one_rank(), run_training(short_run(), 2, sizes(2, 1) + Options{"--make-vocab-size-divisible-by", multiple}));
  }
}

TEST(ModelLayout, UnevenStagesChangeNothing) {
  const Options uneven{"--num-layers-in-first-pipeline-stage", "3"};
  expect_same_numbers(one_rank(), run_training(short_run(), 2, sizes(1, 2) + uneven));
  const Options no_layer{"--num-layers-in-last-pipeline-stage", "0"};
  expect_same_numbers(one_rank(), run_training(short_run(), 2, sizes(1, 2) + no_layer));
  for (const char* layout : {"Ettt|tL", "Et|(t|)*2tL", "E||t*4|L"}) {
    SCOPED_TRACE(layout);
    expect_same_numbers(
        one_rank(), run_training(short_run(), 2, sizes(1, 2) + Options{"--pipeline-model-parallel-layout", layout}));
  }
}

// ---- kinds of gpt ---------------------------------------------------------------------------------------------------

struct Kind {
  const char* name;
  nlohmann::json model;
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class ModelKind : public testing::TestWithParam<Kind> {};

TEST_P(ModelKind, EqualsOneRankUnderTensorParallelism) {
  const nlohmann::json manifest = short_run(GetParam().model);
  const TrainingRun one = run_training(manifest, 1);
  expect_same_numbers(one, run_training(manifest, 2, sizes(2, 1)));
  expect_same_numbers(one, run_training(manifest, 2, sizes(2, 1) + kSequenceParallel));
  expect_same_numbers(one, run_training(manifest, 2, sizes(1, 2)));
}

INSTANTIATE_TEST_SUITE_P(
    Gpt, ModelKind,
    testing::Values(Kind{"AttentionDropout", {{"attention_dropout", 0.1}}},
                    Kind{"Llama",
                         {{"position_embedding_type", "rope"},
                          {"normalization", "RMSNorm"},
                          {"activation_func", "silu"},
                          {"gated_linear_unit", true},
                          {"add_bias_linear", false},
                          {"num_query_groups", 2}}},
                    Kind{"QkLayernorm", {{"qk_layernorm", true}, {"num_query_groups", 2}, {"attention_dropout", 0.2}}}),
    [](const auto& info) { return std::string(info.param.name); });

// ---- tied embeddings ------------------------------------------------------------------------------------------------

const nlohmann::json kTied{{"share_embeddings_and_output_weights", true}};

TEST(TiedEmbeddings, EqualOneRank) {
  const TrainingRun one = run_training(short_run(kTied), 1);
  const auto equals = [&](int world, const Options& options) {
    expect_same_numbers(one, run_training(short_run(kTied), world, options));
  };
  equals(2, sizes(2, 1));
  equals(2, sizes(1, 2));
  equals(2, sizes(1, 2, 2));
  equals(4, sizes(1, 2));
  equals(4, sizes(1, 2) + kDistOpt);
  equals(4, sizes(2, 2));
  equals(4, sizes(1, 4));
}

// ---- what may change no bit -----------------------------------------------------------------------------------------

TEST(SameBits, OverlapOfReductionAndGather) {
  const Options off{"--no-overlap-grad-reduce", "--no-overlap-param-gather", "--ddp-bucket-size", "3000"};
  const Options on{"--overlap-grad-reduce", "--overlap-param-gather", "--ddp-bucket-size", "3000"};
  for (const Options& layout : {sizes(2, 1), sizes(1, 2)}) {
    const Options sharded = layout + kDistOpt;
    expect_same_bits(run_training(short_run(), 4, sharded + off), run_training(short_run(), 4, sharded + on));
    expect_same_bits(run_training(short_run(), 4, layout + Options{off[0]}),
                     run_training(short_run(), 4, layout + Options{on[0]}));
  }
}

TEST(SameBits, RecomputedStages) {
  const nlohmann::json manifest = short_run({{"attention_dropout", 0.1}});
  const Options full{"--recompute-granularity", "full"};
  for (const Options& layout : {sizes(1, 1), sizes(1, 2), sizes(1, 2, 2), sizes(2, 2)}) {
    const int world = std::stoi(layout[1]) * std::stoi(layout[3]);
    expect_same_bits(run_training(manifest, world, layout), run_training(manifest, world, layout + full));
  }
}

Options from_file(const TempFolder& folder, const Schedule& schedule) {
  const std::string file = (folder.path() / "schedule.json").string();
  std::ofstream(file) << schedule_to_json(schedule);
  return {"--pipeline-schedule", file};
}

TEST(SameBits, AScheduleFromAFile) {
  const TempFolder folder;
  expect_same_bits(run_training(short_run(), 2, sizes(1, 2)),
                   run_training(short_run(), 2, sizes(1, 2) + from_file(folder, one_forward_one_backward(2, 8))));
  expect_same_bits(run_training(short_run(), 2, sizes(1, 2, 2)),
                   run_training(short_run(), 2, sizes(1, 2, 2) + from_file(folder, interleaved(2, 2, 8, 2))));
}

// Another group, all forwards first, and microbatches in another order on each rank.
TEST(AnyValidSchedule, GivesTheSameNumbers) {
  const TempFolder folder;
  const auto equals = [&](const Schedule& schedule) {
    const Options layout = sizes(1, 2, schedule.vpp);
    expect_same_numbers(one_rank(), run_training(short_run(), 2, layout + from_file(folder, schedule)));
  };
  equals(interleaved(2, 2, 8, 4));
  Schedule schedule = forward_only(2, 1, 8);
  for (auto& passes : schedule.ranks) {
    for (int32_t m = 7; m >= 0; --m) passes.push_back({PassKind::kBackward, 0, m});
  }
  equals(schedule);
  std::reverse(schedule.ranks[0].begin(), schedule.ranks[0].begin() + 8);
  std::reverse(schedule.ranks[1].begin() + 8, schedule.ranks[1].end());
  equals(schedule);
}

// What a few swaps of neighbours make of `schedule`, each kept only if the ranks still come to their end.
Schedule stirred(Schedule schedule, std::mt19937& random) {
  for (int swaps = 0; swaps < 60; ++swaps) {
    auto& passes = schedule.ranks[random() % schedule.ranks.size()];
    const size_t at = random() % (passes.size() - 1);
    std::swap(passes[at], passes[at + 1]);
    try {
      validate(schedule);
    } catch (const ConfigError&) {
      std::swap(passes[at], passes[at + 1]);
    }
  }
  return schedule;
}

TEST(AnyValidSchedule, StirredOnesGiveTheSameNumbers) {
  const TempFolder folder;
  std::mt19937 random(7);
  for (int round = 0; round < rounds(4, 40); ++round) {
    const Schedule schedule = stirred(interleaved(2, 2, 8, 2), random);
    SCOPED_TRACE(schedule_to_json(schedule));
    const Options options = sizes(1, 2, 2) + from_file(folder, schedule);
    expect_same_numbers(one_rank(), run_training(short_run(), 2, options));
  }
}

}  // namespace
}  // namespace slipway
