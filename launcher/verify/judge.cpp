#include "launcher/verify/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "launcher/verify/step_numbers.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<StepNumbers>;

constexpr double kTolerance = 1e-5, kKeyBiasTolerance = 0.05;

std::string number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.9g", value);
  return text.data();
}

// Of several things of one kind that are beyond their limits: how many, and the one that is farthest beyond.
class Worst {
 public:
  // True when it is beyond; NaN is.
  bool add(double difference, double limit, const std::string& text) {
    if (difference <= limit) return false;
    ++count_;
    const bool is_number = limit > 0 && !std::isnan(difference);
    const double excess = is_number ? difference / limit : std::numeric_limits<double>::infinity();
    if (count_ > 1 && excess <= excess_) return true;
    excess_ = excess;
    text_ = text + ", allowed is " + number(limit);
    return true;
  }

  void tell(const std::string& kind, std::vector<std::string>& failures) const {
    if (count_ == 0) return;
    failures.push_back(text_ + (count_ > 1 ? "; the worst of " + std::to_string(count_) + " " + kind : ""));
  }

 private:
  int count_ = 0;
  double excess_ = 0;
  std::string text_;
};

void raise(double& largest, double difference) {
  largest = std::isnan(difference) ? difference : std::max(largest, difference);
}

void require_length(const Steps& reference, const Steps& run, int64_t steps) {
  const auto wanted = static_cast<size_t>(steps);
  if (reference.size() < wanted) {
    throw ConfigError("the manifest trains " + std::to_string(reference.size()) + " steps and --steps asks for " +
                      std::to_string(steps) + "; give fewer, or more by --train-iters");
  }
  if (reference.size() == wanted && run.size() == wanted) return;
  throw DataError("the runs to compare have " + std::to_string(reference.size()) + " and " +
                  std::to_string(run.size()) + " steps in their metrics.jsonl, wanted are " + std::to_string(steps));
}

double compare_steps(const char* what, double StepNumbers::*value, const Steps& reference, const Steps& run,
                     Comparison& out) {
  double largest = 0;
  int64_t first = 0;
  Worst worst;
  for (size_t s = 0; s < reference.size(); ++s) {
    const double a = reference[s].*value, b = run[s].*value;
    raise(largest, std::abs(b - a));
    const bool is_beyond =
        worst.add(std::abs(b - a), kTolerance * std::abs(a),
                  std::string(what) + " of step " + std::to_string(reference[s].step) + " is " + number(b) +
                      ", the reference has " + number(a) + ": a difference of " + number(std::abs(b - a)));
    if (is_beyond && first == 0) first = reference[s].step;
  }
  worst.tell("steps, the first is " + std::to_string(first), out.failures);
  return largest;
}

bool is_parameter(const TensorInfo& tensor) { return !tensor.name.starts_with("optimizer."); }

// Parameters that both checkpoints hold in one shape and type; the others are told.
std::vector<TensorInfo> common_parameters(const CheckpointReader& a, const CheckpointReader& b, Comparison& out) {
  std::vector<TensorInfo> wanted;
  std::copy_if(a.tensors().begin(), a.tensors().end(), std::back_inserter(wanted), is_parameter);
  TensorDifference difference = b.compare(wanted);
  std::erase_if(difference.unexpected, [](const std::string& name) { return name.starts_with("optimizer."); });
  if (difference.empty()) return wanted;
  out.failures.push_back("the parameters of step " + std::to_string(b.step()) +
                         " are others than the reference's:" + difference.to_string());
  std::erase_if(wanted, [&](const TensorInfo& tensor) {
    const TensorInfo* other = b.find(tensor.name);
    return other == nullptr || other->shape != tensor.shape || other->dtype != tensor.dtype;
  });
  return wanted;
}

std::vector<std::byte> read_tensor(const CheckpointReader& reader, const TensorInfo& tensor) {
  const Cut whole = whole_cut(tensor.shape);
  std::vector<std::byte> bytes(static_cast<size_t>(num_elements(whole) * dtype_size(tensor.dtype)));
  reader.read(tensor.name, whole, bytes);
  return bytes;
}

struct TensorGap {
  double largest = 0, magnitude = 1;
  size_t at = 0;
};

float float_at(const std::vector<std::byte>& bytes, size_t i) {
  float value = 0;
  std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
  return value;
}

// NaN counts as the largest.
TensorGap gap_of(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
  TensorGap gap;
  for (size_t i = 0; i < a.size() / sizeof(float) && !std::isnan(gap.largest); ++i) {
    const double reference = float_at(a, i), difference = std::abs(float_at(b, i) - reference);
    gap.magnitude = std::max(gap.magnitude, std::abs(reference));
    if (difference <= gap.largest) continue;
    gap.largest = difference;
    gap.at = i;
  }
  return gap;
}

void compare_start(const CheckpointReader& a, const CheckpointReader& b, Comparison& out) {
  const size_t failures = out.failures.size();
  int count = 0;
  std::string first;
  for (const TensorInfo& tensor : common_parameters(a, b, out)) {
    if (read_tensor(a, tensor) == read_tensor(b, tensor)) continue;
    if (++count == 1) first = tensor.name;
  }
  if (count > 0) {
    out.failures.push_back("initial weights of " + first +
                           (count > 1 ? " and " + std::to_string(count - 1) + " more" : "") +
                           " are not those of the reference");
  }
  out.equal_start = out.failures.size() == failures;
}

void compare_end(const CheckpointReader& a, const CheckpointReader& b, double key_bias_limit, Comparison& out) {
  Worst worst;
  for (const TensorInfo& tensor : common_parameters(a, b, out)) {
    const auto left = read_tensor(a, tensor), right = read_tensor(b, tensor);
    if (tensor.dtype != DType::kF32) {
      if (left != right) worst.add(std::nan(""), 0, tensor.name + ", which is not fp32, differs");
      continue;
    }
    const TensorGap gap = gap_of(left, right);
    const bool has_key_bias = tensor.name.ends_with("linear_qkv.bias");
    const double limit = std::max(kTolerance * gap.magnitude, has_key_bias ? key_bias_limit : 0.0);
    const bool is_beyond =
        worst.add(gap.largest, limit,
                  "weight " + std::to_string(gap.at) + " of " + tensor.name + " differs by " + number(gap.largest));
    if (is_beyond || !has_key_bias) raise(out.weight, gap.largest);
  }
  worst.tell("tensors", out.failures);
}

CheckpointReader open(const fs::path& run, int64_t step) {
  return CheckpointReader(checkpoint_folder(run / "checkpoints", step));
}

}  // namespace

Comparison compare_runs(const fs::path& reference, const fs::path& run, int64_t steps) {
  Comparison out;
  const Steps a = read_steps(reference), b = read_steps(run);
  require_length(a, b, steps);
  out.loss = compare_steps("the loss", &StepNumbers::loss, a, b, out);
  out.grad_norm = compare_steps("the gradient norm", &StepNumbers::grad_norm, a, b, out);
  double rates = 0;
  for (const StepNumbers& step : a) rates += step.lr;
  compare_start(open(reference, 0), open(run, 0), out);
  compare_end(open(reference, steps), open(run, steps), kKeyBiasTolerance * rates, out);
  return out;
}

}  // namespace slipway
