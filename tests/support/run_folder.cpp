#include "tests/support/run_folder.h"

#include <fstream>

#include "core/checkpoint/checkpoint.h"

namespace slipway {

std::vector<nlohmann::json> metrics_of(const std::filesystem::path& run) {
  std::ifstream file(run / "metrics.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) {
    nlohmann::json parsed = nlohmann::json::parse(line);
    for (const char* clock : {"step_time_s", "tokens_per_s", "tflops_per_rank", "data_wait_s"}) parsed.erase(clock);
    lines.push_back(std::move(parsed));
  }
  return lines;
}

std::map<std::string, std::string> tensors_of(const std::filesystem::path& run, int64_t step) {
  const CheckpointReader reader(checkpoint_folder(run / "checkpoints", step));
  std::map<std::string, std::string> tensors;
  for (const TensorInfo& tensor : reader.tensors()) {
    const Cut whole = whole_cut(tensor.shape);
    std::string& bytes = tensors[tensor.name];
    bytes.resize(static_cast<size_t>(num_elements(whole)) * sizeof(float));
    reader.read(tensor.name, whole, std::as_writable_bytes(std::span(bytes.data(), bytes.size())));
  }
  return tensors;
}

}  // namespace slipway
