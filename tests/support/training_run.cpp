#include "tests/support/training_run.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <stdexcept>

#include "core/base/file.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/stored_tensors.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

Weights weights_of(const Training& training) {
  Weights weights;
  for (const StoredTensor& tensor : stored_tensors(training)) {
    if (tensor.name.starts_with("optimizer.")) continue;
    weights[tensor.name] =
        tensor.is_packed ? std::vector<float>(tensor.values.begin(), tensor.values.end()) : pack(tensor);
  }
  return weights;
}

TrainingRun run_rank(const std::vector<std::string>& arguments, const RankEnvironment& rank) {
  Reporter silent(-1);
  Log log(LogLevel::kWarning);
  LaunchContext context;
  context.rank = rank;
  context.log = &log;
  TrainingRun run;
  auto runtime = initialize(plan_run(arguments, {rank.world_size, rank.local_world_size}, silent), context);
  auto training = setup_model_and_optimizer(*runtime);
  run.initial = weights_of(*training);
  auto iterators = build_iterators(*runtime, *training);
  while (has_next_step(*runtime, *training)) {
    run.steps.push_back(train_step(*runtime, *training, *iterators));
  }
  run.final = weights_of(*training);
  Summary summary;
  summary.step = summary.saved_step = training->progress.step;
  finalize(std::move(runtime), std::move(training), std::move(iterators), summary);
  return run;
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
  const std::string file = (folder.path() / "manifest.json").string();
  write_file_atomic(file, manifest.dump(1), ExitCode::kUsage);
  const std::string build = std::getenv("SLIPWAY_BUILD_DIR");
  std::vector<std::string> arguments{"--manifest", file, "--plugin-path",
                                     build + "/lib/slipway/plugins," + build + "/tests/plugins"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  std::vector<TrainingRun> runs(static_cast<size_t>(world));
  run_ranks(world,
            [&](const RankEnvironment& rank) { runs[static_cast<size_t>(rank.rank)] = run_rank(arguments, rank); });
  for (const TrainingRun& run : runs) {
    if (run.final != runs.front().final) throw std::runtime_error("ranks end with different weights");
  }
  return std::move(runs.front());
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
