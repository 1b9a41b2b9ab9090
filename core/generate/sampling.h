// Which token comes next. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>

namespace slipway {

struct Sampling {
  double temperature = 1.0;  // logits are divided by it; 0: always the likeliest token
  int64_t top_k = 0;         // only the k likeliest; 0: all
  double top_p =
      1.0;  // of those, the likeliest ones until their probabilities reach p, the one that crosses p included
};

// Throws ConfigError naming the option that is out of range.
void check_sampling(const Sampling& sampling);

// The token that `uniform`, a number in (0, 1), stands for. Temperature first, then top_k, then top_p; probabilities
// are taken anew over what is left. Of equal logits the lower token counts as likelier. REQUIRES: logits is not empty.
int64_t pick_token(std::span<const float> logits, const Sampling& sampling, double uniform);

// A number in (0, 1) for one token: the same whatever else is generated beside it.
double sampling_uniform(uint64_t seed, int64_t sample, int64_t position);

}  // namespace slipway
