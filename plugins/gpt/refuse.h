// Refusals of option combinations: each says the rule, the numbers and the nearest legal values.
#pragma once

#include <cmath>
#include <slipway/sdk.hpp>

namespace slipway::gpt {

// The shortest text that reads back as the same number: 0.4, not 0.40000000000000002.
inline std::string text_of(double number) { return nlohmann::json(number).dump(); }

inline void refuse_if(bool is_wrong, const std::string& message) {
  if (is_wrong) throw slw::Error(SLW_INVALID_ARGUMENT, message);
}

// `value` has to be a multiple of `by`.
inline void refuse_indivisible(const char* name, int64_t value, const char* by_name, int64_t by) {
  if (value % by == 0) return;
  const int64_t below = value / by * by, above = below + by;
  std::string nearest = below > 0 ? slw::cat(below, " or ", above) : slw::cat(above);
  int64_t low = by, high = by;
  while (value % low != 0) --low;
  while (high < value && value % high != 0) ++high;
  throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat(name, " ", value, " has to be a multiple of ", by_name, " ", by,
                                                  "; nearest: ", name, " ", nearest, ", or ", by_name, " ", low,
                                                  value % high == 0 ? slw::cat(" or ", high) : std::string()));
}

// An option that has no effect here has to keep its default.
template <class Value>
void refuse_unused(const slw::Config& options, const char* name, const Value& standard, bool is_used,
                   const std::string& reason) {
  const nlohmann::json& value = options.json(name);
  if (is_used || value == nlohmann::json(standard)) return;
  throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat(name, " ", value.dump(), " would have no effect: ", reason));
}

// Says which rotary_percent gives the even numbers around `dim`.
inline std::string nearest_percent(int64_t head_dim, int64_t dim) {
  if (head_dim < 2) return slw::cat("heads of ", head_dim, " channel cannot be rotated");
  const int64_t below = std::max<int64_t>(2, dim / 2 * 2), above = std::min(head_dim / 2 * 2, below + 2);
  const auto percent = [&](int64_t d) {  // rounded up, so that int() gives d again
    return text_of(std::ceil(static_cast<double>(d) / static_cast<double>(head_dim) * 1e6) / 1e6);
  };
  if (above <= below) return slw::cat("nearest: rotary_percent ", percent(below));
  return slw::cat("nearest: rotary_percent ", percent(below), " or ", percent(above));
}

}  // namespace slipway::gpt
