// Compares what two runs left in their folders by the tolerances of law 1. Throws CheckpointError or DataError for a
// folder that is not that of a finished run, ConfigError when the reference trains fewer steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace slipway {

// Largest absolute differences over all steps and elements, and what went beyond the tolerances.
struct Comparison {
  double loss = 0, grad_norm = 0;
  double weight = 0;                  // leaves out what is tolerated of linear_qkv.bias
  bool equal_start = true;            // initial weights, byte by byte
  std::vector<std::string> failures;  // a line for each kind, with the worst step or tensor

  bool passed() const { return failures.empty(); }
};

// `steps` steps of both, with checkpoints of step 0 and of the last. Law 1, fp32: loss and gradient norm within 1e-5 of
// the reference's; each weight within 1e-5 x max(1, largest magnitude of its tensor); linear_qkv.bias, whose key part
// has no true gradient, within 0.05 x the sum of learning rates; tensors that are not fp32 are equal.
Comparison compare_runs(const std::filesystem::path& reference, const std::filesystem::path& run, int64_t steps);

}  // namespace slipway
