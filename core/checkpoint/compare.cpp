// What a checkpoint holds against what is wanted of it.
#include <map>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"

namespace slipway {
namespace {

std::string describe(const TensorInfo& info) {
  return std::string(dtype_name(info.dtype)) + " " + to_string(info.shape);
}

void append_list(std::string& text, const std::vector<std::string>& names, const std::string& title) {
  if (names.empty()) return;
  text += "\n  " + title + " (" + std::to_string(names.size()) + "):";
  for (const std::string& name : names) text += "\n    " + name;
}

}  // namespace

std::string TensorDifference::to_string() const {
  std::string text;
  append_list(text, missing, "wanted, but not stored");
  append_list(text, unexpected, "stored, but not wanted");
  append_list(text, changed, "stored otherwise than wanted");
  return text;
}

TensorDifference CheckpointReader::compare(std::span<const TensorInfo> wanted) const {
  std::map<std::string_view, const TensorInfo*> by_name;
  for (const TensorInfo& info : wanted) by_name.emplace(info.name, &info);
  TensorDifference difference;
  for (const auto& [name, info] : by_name) {
    const TensorInfo* stored = find(name);
    if (stored == nullptr) {
      difference.missing.emplace_back(name);
    } else if (stored->dtype != info->dtype || stored->shape != info->shape) {
      difference.changed.push_back(std::string(name) + ": stored " + describe(*stored) + ", wanted " + describe(*info));
    }
  }
  for (const TensorInfo& stored : tensors()) {
    if (!by_name.contains(stored.name)) difference.unexpected.push_back(stored.name);
  }
  return difference;
}

void CheckpointReader::require_same(std::span<const TensorInfo> wanted) const {
  const TensorDifference difference = compare(wanted);
  if (difference.empty()) return;
  throw CheckpointError(folder().string() + " does not hold the tensors of this run:" + difference.to_string() +
                        "\nResume with the model and optimizer options of the run that saved it.");
}

}  // namespace slipway
