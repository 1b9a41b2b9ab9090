// Gradient norms and clipping against torch's clip_grad_norm_.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "core/optim/clip.h"
#include "core/optim/norm.h"
#include "tests/support/golden_values.h"

namespace {

constexpr double kTolerance = 4e-6;  // torch sums in single precision

void check_keys(const nlohmann::json& json, const std::vector<std::string>& known) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::runtime_error("clip_grad_norm: unknown key '" + key + "'");
    }
  }
}

// "value rule: name 'clip0.<i>', half 2.0, shapes [5,7],[11],[3,3]"
std::vector<std::vector<float>> gradients(const std::string& text, std::uint64_t seed) {
  std::smatch match;
  if (!std::regex_match(text, match, std::regex(R"(value rule: name '(.*)<i>', half ([0-9.]+), shapes (.*))"))) {
    throw std::runtime_error("clip_grad_norm: cannot read '" + text + "'");
  }
  const std::string prefix = match[1], half = match[2], shapes = match[3];
  std::vector<std::vector<float>> result;
  static const std::regex kShape(R"(\[([0-9,]+)\])"), kNumber("[0-9]+");
  for (std::sregex_iterator shape(shapes.begin(), shapes.end(), kShape), end; shape != end; ++shape) {
    const std::string dims = (*shape)[1];
    std::size_t count = 1;
    for (std::sregex_iterator dim(dims.begin(), dims.end(), kNumber); dim != end; ++dim)
      count *= std::stoul(dim->str());
    const std::string name = prefix + std::to_string(result.size());
    result.push_back(slipway::golden::values({name, seed}, {std::stod(half), 0.0}, count));
  }
  return result;
}

TEST(ClipGolden, FollowsTorch) {
  const nlohmann::json json = slipway::golden::read_json(slipway::golden::folder() / "optim" / "clip_grad_norm.json");
  check_keys(json, {"software", "seed", "cases"});
  ASSERT_FALSE(json.at("cases").empty());
  for (const nlohmann::json& c : json.at("cases")) {
    check_keys(c, {"grads", "max_norm", "total_norm_before", "clip_coeff", "first4_of_grad0_after"});
    const auto grads = gradients(c.at("grads"), json.at("seed"));
    const std::vector<std::span<const float>> spans(grads.begin(), grads.end());
    const double norm = std::sqrt(slipway::sum_of_squares(spans, 1).value);
    EXPECT_NEAR(norm, c.at("total_norm_before"), kTolerance * norm);
    const std::optional<double> coefficient = slipway::clip_coefficient(norm, c.at("max_norm"));
    ASSERT_TRUE(coefficient);
    EXPECT_NEAR(*coefficient, c.at("clip_coeff"), kTolerance);
    for (std::size_t i = 0; i < 4; ++i) {
      const double expected = c.at("first4_of_grad0_after").at(i);
      EXPECT_NEAR(grads[0][i] * static_cast<float>(*coefficient), expected, kTolerance * std::abs(expected));
    }
  }
}

}  // namespace
