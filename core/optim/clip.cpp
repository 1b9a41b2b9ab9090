#include "core/optim/clip.h"

#include <cmath>

namespace slipway {

std::optional<double> clip_coefficient(double norm, double max_norm) {
  constexpr double kEpsilon = 1e-6;  // Megatron's and torch's
  if (!std::isfinite(norm)) return std::nullopt;
  if (max_norm == 0.0) return 1.0;
  const double coefficient = max_norm / (norm + kEpsilon);
  return coefficient < 1.0 ? coefficient : 1.0;
}

}  // namespace slipway
