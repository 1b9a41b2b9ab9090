#include "core/generate/sampling.h"

#include <slipway/philox.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace slipway {

void check_sampling(const Sampling& sampling) {
  const auto refuse = [](const char* name, double value, const char* allowed) {
    throw ConfigError(std::string(name) + " is " + std::to_string(value) + "; allowed: " + allowed);
  };
  if (!(sampling.temperature >= 0)) refuse("--temperature", sampling.temperature, "0 (always the likeliest) or more");
  if (sampling.top_k < 0) refuse("--top-k", static_cast<double>(sampling.top_k), "1 or more, or 0 for all tokens");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) refuse("--top-p", sampling.top_p, "above 0, up to 1");
}

int64_t pick_token(std::span<const float> logits, const Sampling& sampling, double uniform) {
  const auto likeliest = std::max_element(logits.begin(), logits.end()) - logits.begin();
  if (sampling.temperature == 0) return likeliest;
  std::vector<int64_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  const auto logit = [&](int64_t token) { return logits[static_cast<size_t>(token)]; };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return logit(a) > logit(b); });
  if (sampling.top_k > 0 && sampling.top_k < static_cast<int64_t>(order.size())) {
    order.resize(static_cast<size_t>(sampling.top_k));
  }
  const double top = logit(order.front());
  std::vector<double> upto;  // sums of weights
  double total = 0;
  for (const int64_t token : order) upto.push_back(total += std::exp((logit(token) - top) / sampling.temperature));
  const auto crossing = std::lower_bound(upto.begin(), upto.end(), sampling.top_p * total);
  const size_t kept = std::min<size_t>(upto.size(), static_cast<size_t>(crossing - upto.begin()) + 1);
  const auto drawn =
      std::upper_bound(upto.begin(), upto.begin() + static_cast<int64_t>(kept), uniform * upto[kept - 1]);
  return order[std::min<size_t>(kept - 1, static_cast<size_t>(drawn - upto.begin()))];
}

double sampling_uniform(uint64_t seed, int64_t sample, int64_t position) {
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  const auto high = [](int64_t value) { return static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32); };
  const slw_philox_block block =
      slw_philox(slw_philox_key(seed, "generate", ""), low(position), high(position), low(sample), high(sample));
  return slw_uniform(block.lane[0]);
}

}  // namespace slipway
