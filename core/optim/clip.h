// Clipping by the global gradient norm. A pure function; any thread.
#pragma once

#include <optional>

namespace slipway {

// What all gradients are multiplied by: max_norm / (norm + 1e-6) if that is below 1, else 1. No value: the norm is
// infinite or NaN, and the step has to be skipped. `max_norm` 0 never clips. REQUIRES: max_norm >= 0.
std::optional<double> clip_coefficient(double norm, double max_norm);

}  // namespace slipway
