// What a finished run left behind, for comparing runs.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace slipway {

// The lines of metrics.jsonl without what a clock says (times and what is divided by them).
std::vector<nlohmann::json> metrics_of(const std::filesystem::path& run);

// All bytes of all tensors of a checkpoint, by name: parameters and optimizer state.
std::map<std::string, std::string> tensors_of(const std::filesystem::path& run, int64_t step);

}  // namespace slipway
