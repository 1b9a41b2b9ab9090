// A whole training run inside a test: the five steps of the core on ranks as threads, with what it computed.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/pretrain/train_step.h"

namespace slipway {

using Weights = std::map<std::string, std::vector<float>>;  // logical elements, by parameter

struct TrainingRun {
  Weights initial, final;
  std::vector<StepResult> steps;  // of rank 0
};

// A gpt with dropout on made-up data that takes a second: 2 layers, hidden 32, vocabulary 250.
nlohmann::json small_gpt_manifest();
// The same data, learned by the bigram in plain C.
nlohmann::json small_bigram_manifest();

// Trains on `world` ranks to the end; `options` are command line flags. Weights are put together from all ranks; copies
// that differ throw.
TrainingRun run_training(const nlohmann::json& manifest, int world, const std::vector<std::string>& options = {});

// The same with all that a run does besides: `options` name its output folder.
void pretrain_on_threads(const nlohmann::json& manifest, int world, const std::vector<std::string>& options);

// Largest difference relative to max(1, largest magnitude) over all parameters.
double largest_difference(const Weights& a, const Weights& b);

}  // namespace slipway
