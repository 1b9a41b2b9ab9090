// Which layers run where: the model cut into virtual pipeline stages (reference: Megatron-core's transformer block
// layout). Virtual stage v is chunk v / pp of pipeline rank v % pp. Pure functions; any thread.
#pragma once

#include <slipway/model.h>

#include <cstdint>
#include <vector>

#include "core/parallel/pipeline_config.h"

namespace slipway {

// Chunks per rank that `config` asks for. Throws ConfigError when its options contradict each other or `num_layers`.
int num_chunks(const PipelineConfig& config, int pp, int64_t num_layers);

// All pp x num_chunks stages by virtual number. Throws ConfigError with the rule, the numbers and the nearest values
// when the layers do not divide.
std::vector<slw_stage> cut_stages(const PipelineConfig& config, int pp, int64_t num_layers);

// The chunks of one rank, in order.
std::vector<slw_stage> stages_of_rank(const std::vector<slw_stage>& stages, int pp, int pp_rank);

}  // namespace slipway
