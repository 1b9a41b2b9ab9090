// The text of pipeline_model_parallel_layout: stages joined by '|' in the order of virtual stages, E the embedding, t a
// layer, L head and loss; "x*3" and "(...)*3" repeat, commas and blanks mean nothing. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

// What each stage holds, repetitions written out: {"Et", "tt", "tL"}. Throws ConfigError that shows the place.
std::vector<std::string> parse_stage_layout(const std::string& layout);

// Layers of each of `num_stages` stages. Throws ConfigError unless the embedding begins the first stage, the loss ends
// the last, and all `num_layers` layers are there.
std::vector<int64_t> layers_of_layout(const std::string& layout, int64_t num_stages, int64_t num_layers);

}  // namespace slipway
