#include "tests/support/training_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "core/base/file.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

// Adds what this rank holds of every parameter to `whole`. An element that another rank has put there already, with
// other bits, throws: copies over data and tensor parallel ranks and of tied embeddings have to be equal.
class WholeWeights {
 public:
  void add(const Training& training) {
    training.dp->finish_gather();
    const std::lock_guard lock(mutex_);
    for (const Param& param : training.table.params()) {
      for (const LocalBlock& block : param.local.blocks) add(param, block, training.store->data(param.index));
    }
  }
  const Weights& values() const { return values_; }

 private:
  void add(const Param& param, const LocalBlock& block, const float* local) {
    const auto& shape = param.declaration->global_shape();
    auto& known = known_[param.name()];
    auto& values = values_[param.name()];
    known.resize(static_cast<size_t>(element_count(shape)));
    values.resize(known.size());
    for (int64_t i = 0; i < element_count(block.shape); ++i) {
      int64_t rest = i, from = 0, to = 0, from_stride = 1, to_stride = 1;
      bool is_padding = false;
      for (size_t d = shape.size(); d-- > 0;) {
        const int64_t at = rest % block.shape[d], global = block.global_offset[d] + at;
        rest /= block.shape[d];
        from += (block.local_offset[d] + at) * from_stride;
        to += global * to_stride;
        from_stride *= param.local.shape[d];
        to_stride *= shape[d];
        is_padding = is_padding || global >= shape[d];
      }
      const float value = local[from];
      if (is_padding && value != 0) throw std::runtime_error(param.name() + " has padding that is not zero");
      if (is_padding) continue;
      const auto element = static_cast<size_t>(to);
      if (known[element] && values[element] != value) {
        throw std::runtime_error("ranks have different copies of " + param.name());
      }
      known[element] = true;
      values[element] = value;
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<bool>> known_;
  Weights values_;
};

struct SharedRun {
  WholeWeights initial, final;
  std::vector<StepResult> steps;  // of rank 0
};

RunPlan plan_of(const std::vector<std::string>& arguments, const RankEnvironment& rank) {
  Reporter silent(-1);
  return plan_run(arguments, {rank.world_size, rank.local_world_size}, silent);
}

LaunchContext context_of(const RankEnvironment& rank, Log& log) {
  LaunchContext context;
  context.rank = rank;
  context.log = &log;
  return context;
}

// The manifest is written into `folder`.
std::vector<std::string> arguments_of(const nlohmann::json& manifest, const std::vector<std::string>& options,
                                      const TempFolder& folder) {
  const std::string file = (folder.path() / "manifest.json").string();
  write_file_atomic(file, manifest.dump(1), ExitCode::kUsage);
  const std::string build = std::getenv("SLIPWAY_BUILD_DIR");
  std::vector<std::string> arguments{"--manifest", file, "--plugin-path",
                                     build + "/lib/slipway/plugins," + build + "/tests/plugins"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

void run_rank(const std::vector<std::string>& arguments, const RankEnvironment& rank, SharedRun& run) {
  Log log(LogLevel::kWarning);
  auto runtime = initialize(plan_of(arguments, rank), context_of(rank, log));
  auto training = setup_model_and_optimizer(*runtime);
  run.initial.add(*training);
  auto iterators = build_iterators(*runtime, *training);
  while (has_next_step(*runtime, *training)) {
    const StepResult step = train_step(*runtime, *training, *iterators);
    if (rank.rank == 0) run.steps.push_back(step);
  }
  run.final.add(*training);
  Summary summary;
  summary.step = summary.saved_step = training->progress.step;
  finalize(std::move(runtime), std::move(training), std::move(iterators), summary);
}

nlohmann::json small_manifest() {
  return {{"optimizer", {{"use", "adam"}}},
          {"data_parallel", {{"use", "ddp"}}},
          {"data", {{"use", "mock"}, {"vocab_size", 250}}},
          {"train",
           {{"seq_length", 32},
            {"micro_batch_size", 1},
            {"global_batch_size", 8},
            {"train_iters", 10},
            {"lr", 0.003},
            {"lr_warmup_iters", 2},
            {"cpu_threads", 1}}}};
}

}  // namespace

nlohmann::json small_gpt_manifest() {
  nlohmann::json manifest = small_manifest();
  manifest["model"] = {
      {"use", "gpt"},           {"num_layers", 2},       {"hidden_size", 32},       {"num_attention_heads", 4},
      {"ffn_hidden_size", 128}, {"hidden_dropout", 0.1}, {"attention_dropout", 0.0}};
  return manifest;
}

nlohmann::json small_bigram_manifest() {
  nlohmann::json manifest = small_manifest();
  manifest["model"] = {{"use", "bigram"}};
  return manifest;
}

TrainingRun run_training(const nlohmann::json& manifest, int world, const std::vector<std::string>& options) {
  const TempFolder folder;
  const std::vector<std::string> arguments = arguments_of(manifest, options, folder);
  SharedRun run;
  run_ranks(world, [&](const RankEnvironment& rank) { run_rank(arguments, rank, run); });
  return {run.initial.values(), run.final.values(), std::move(run.steps)};
}

void pretrain_on_threads(const nlohmann::json& manifest, int world, const std::vector<std::string>& options) {
  const TempFolder folder;
  const std::vector<std::string> arguments = arguments_of(manifest, options, folder);
  run_ranks(world, [&](const RankEnvironment& rank) {
    Log log(LogLevel::kWarning);
    pretrain(plan_of(arguments, rank), context_of(rank, log));
  });
}

double largest_difference(const Weights& a, const Weights& b) {
  if (a.size() != b.size()) throw std::runtime_error("different numbers of parameters");
  double largest = 0;
  for (const auto& [name, values] : a) {
    const std::vector<float>& others = b.at(name);
    if (values.size() != others.size()) throw std::runtime_error(name + " has different shapes");
    double difference = 0, magnitude = 1;
    for (size_t i = 0; i < values.size(); ++i) {
      difference = std::max(difference, static_cast<double>(std::abs(values[i] - others[i])));
      magnitude = std::max(magnitude, static_cast<double>(std::abs(values[i])));
    }
    largest = std::max(largest, difference / magnitude);
  }
  return largest;
}

}  // namespace slipway
