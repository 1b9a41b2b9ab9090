// Generating text with a trained model, one token after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/generate/language_model.h"
#include "core/generate/sampling.h"

namespace slipway {

struct GenerateRequest {
  std::vector<int64_t> prompt;  // at least one token
  int64_t num_samples = 1, max_new_tokens = 200;
  int64_t num_tokens = 0;  // of the tokenizer: ids from here on are never drawn
  int64_t eod_id = -1;     // ends a sample, and is not given out; -1: none
  uint64_t seed = 1234;
  Sampling sampling;
};

// Gives out each new token of each sample as it is drawn. All samples run as one batch; a sample's random numbers
// depend on seed, its number and position only. Once the model's sequence length is reached the oldest tokens leave its
// sight.
void generate(LanguageModel& model, const GenerateRequest& request,
              const std::function<void(int64_t sample, int64_t token)>& give);

}  // namespace slipway
