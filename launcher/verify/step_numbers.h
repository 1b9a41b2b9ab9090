// The steps of a run as its metrics.jsonl has them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace slipway {

// NaN for what is no finite number.
struct StepNumbers {
  int64_t step = 0;
  double loss = 0, grad_norm = 0, lr = 0;
};

// Lines of evaluations are left out. Throws DataError when the file cannot be read or a line is no JSON object.
std::vector<StepNumbers> read_steps(const std::filesystem::path& run);

}  // namespace slipway
