// Norms of a rank's gradients. Sums are taken in double precision over chunks that are cut by the data alone and added
// in order, so the bits are the same for any number of threads. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace slipway {

// Gradients, one span per parameter or part of one.
using GradientSpans = std::span<const std::span<const float>>;

struct GradientMeasure {
  double value = 0.0;                          // infinite or NaN when a gradient is
  std::optional<std::size_t> non_finite_span;  // the first span with an infinity or a NaN
};

// Uses up to `num_threads` threads. The L2 norm over several ranks is the root of the sum of their values.
GradientMeasure sum_of_squares(GradientSpans gradients, int num_threads);

// The infinity norm; over several ranks: the largest of their values.
GradientMeasure largest_magnitude(GradientSpans gradients, int num_threads);

}  // namespace slipway
