// What the options of the gpt model mean together.
#pragma once

#include <slipway/sdk.hpp>

#include "plugins/transformer/config.h"

namespace slipway::gpt {

struct GptConfig {
  transformer::TransformerConfig layers;
  bool has_learned_positions = true;
  int64_t max_positions = 0;  // rows of the position table
  bool is_tied = false;       // the head uses the word embedding
  double embedding_init_std = 0.02;
  int64_t vocab_size = 0, padded_vocab_size = 0;
  int64_t tp_size = 1;  // ranks that share each layer
};

// Reads and checks. Throws slw::Error for a combination that cannot be built, naming the rule, the numbers and the
// nearest legal values.
GptConfig read_config(const slw::Config& options, const slw_run_info& run);

}  // namespace slipway::gpt
