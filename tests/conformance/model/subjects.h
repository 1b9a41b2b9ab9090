// The models that the conformance cases run on, and the batches they are given.
#pragma once

#include <cmath>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/model_harness.h"

namespace slipway {

struct Subject {
  std::string title;
  std::string model;
  nlohmann::json options;
  // Prints the title alone.
  friend std::ostream& operator<<(std::ostream& out, const Subject& subject) { return out << subject.title; }
};

inline nlohmann::json small_gpt(const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json options = {{"num_layers", 4},
                            {"hidden_size", 32},
                            {"num_attention_heads", 4},
                            {"hidden_dropout", 0.0},
                            {"attention_dropout", 0.0}};
  options.update(more);
  return options;
}

inline nlohmann::json small_llama() {
  return small_gpt({{"position_embedding_type", "rope"},
                    {"normalization", "RMSNorm"},
                    {"activation_func", "silu"},
                    {"gated_linear_unit", true},
                    {"ffn_hidden_size", 48},
                    {"add_bias_linear", false},
                    {"num_query_groups", 2},
                    {"qk_layernorm", true},
                    {"hidden_dropout", 0.1}});
}

inline std::vector<Subject> subjects() {
  return {
      {"Bigram", "bigram", nlohmann::json::object()},
      {"Gpt", "gpt", small_gpt()},
      {"GptTiedDropout", "gpt",
       small_gpt({{"share_embeddings_and_output_weights", true}, {"hidden_dropout", 0.1}, {"attention_dropout", 0.1}})},
      {"GptWindow", "gpt", small_gpt({{"window_size", {3, 0}}, {"num_query_groups", 2}, {"attention_dropout", 0.2}})},
      {"Llama", "gpt", small_llama()},
  };
}

inline constexpr int64_t kBatch = 4, kLength = 13, kVocab = 50;

inline ModelSetup setup_of(const Subject& subject) {
  ModelSetup setup;
  setup.model = subject.model;
  setup.options = subject.options;
  setup.batch_size = kBatch;
  setup.seq_length = kLength;
  setup.vocab_size = kVocab;
  return setup;
}

// Microbatch number `which`; samples are numbered on from batch to batch.
inline ModelBatch batch_of(int64_t which, int64_t length = kLength) {
  ModelBatch batch;
  batch.batch_size = kBatch;
  batch.seq_length = length;
  for (int64_t i = 0; i < kBatch * length; ++i) {
    batch.tokens.push_back((i * i + 7 * i + 3 * which) % kVocab);
    batch.labels.push_back((i * 5 + 11 * which + 1) % kVocab);
    batch.loss_mask.push_back((i + which) % 5 == 0 ? 0.0f : 1.0f);
  }
  for (int64_t r = 0; r < kBatch; ++r) batch.sample_ids.push_back(kBatch * which + r);
  return batch;
}

using Gradients = std::map<std::string, std::vector<float>>;

inline Gradients gradients_of(const ModelHarness& model) {
  Gradients all;
  for (const std::string& name : model.parameter_names()) all[name] = model.gradient(name);
  return all;
}

// The largest |a - b|, each tensor measured against its own largest |b|.
inline double distance(const Gradients& a, const Gradients& b) {
  double worst = a.size() == b.size() ? 0 : 1;
  for (const auto& [name, want] : b) {
    double scale = 1e-6, difference = 0;
    const std::vector<float>& got = a.at(name);
    for (std::size_t i = 0; i < want.size(); ++i) {
      scale = std::max(scale, std::abs(static_cast<double>(want[i])));
      difference = std::max(difference, std::abs(static_cast<double>(got[i]) - want[i]));
    }
    worst = std::max(worst, difference / scale);
  }
  return worst;
}

}  // namespace slipway
