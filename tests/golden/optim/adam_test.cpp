// Five steps of torch's AdamW and Adam against the adam plugin, through its table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "core/checkpoint/safetensors.h"
#include "tests/conformance/optimizer/optimizer_instance.h"
#include "tests/support/golden_values.h"

namespace {

using slipway::SafetensorsReader;

// 20 times what an independent implementation reaches.
constexpr double kTolerance = 20 * 2e-7;

struct Case {
  std::string name;
  bool decoupled;
  double beta1, beta2, eps, weight_decay;
  std::vector<double> lr_per_step;
  std::vector<std::string> params;
};

bool starts_with(const std::string& text, const std::string& prefix) { return text.rfind(prefix, 0) == 0; }

// Throws for a key that is not known: it may change what the numbers mean.
Case read_case(const std::string& name, const nlohmann::json& json) {
  static constexpr const char* kKnown[] = {"software", "betas", "eps",    "weight_decay",
                                           "steps",    "seed",  "shapes", "lr_per_step"};
  for (const auto& [key, value] : json.items()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
      throw std::runtime_error(name + ": unknown key '" + key + "'");
    }
  }
  Case result{name,
              starts_with(json.at("software"), "torch.optim.AdamW "),
              json.at("betas").at(0),
              json.at("betas").at(1),
              json.at("eps"),
              json.at("weight_decay"),
              json.at("lr_per_step"),
              {}};
  if (json.at("steps") != result.lr_per_step.size())
    throw std::runtime_error(name + ": steps is not the count of rates");
  for (const auto& [param, shape] : json.at("shapes").items()) result.params.push_back(param);
  return result;
}

std::vector<Case> adam_cases() {
  std::vector<Case> cases;
  for (const std::filesystem::path& path : slipway::golden::files("optim/*.json")) {
    const nlohmann::json json = slipway::golden::read_json(path);
    const std::string software = json.value("software", "");
    const std::string name = path.stem().string();
    if (starts_with(software, "torch.optim.AdamW ") || starts_with(software, "torch.optim.Adam ")) {
      cases.push_back(read_case(name, json));
    } else if (name != "clip_grad_norm") {
      std::cout << "not covered yet: optim/" << name << " (" << software << ")\n";
    }
  }
  return cases;
}

struct Tensors {
  std::vector<float> param, exp_avg, exp_avg_sq;
};

// The largest difference, in units of the largest expected number.
double difference(const std::vector<float>& got, const std::vector<float>& expected) {
  EXPECT_EQ(got.size(), expected.size());
  double worst = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    worst = std::max(worst, std::isnan(got[i]) ? INFINITY : std::abs(double{got[i]} - double{expected[i]}));
    largest = std::max(largest, std::abs(double{expected[i]}));
  }
  return worst / largest;
}

class AdamGolden : public ::testing::TestWithParam<Case> {
 protected:
  AdamGolden()
      : inputs_(slipway::golden::folder() / "optim" / "inputs_adam.safetensors"),
        expected_(slipway::golden::folder() / "optim" / (GetParam().name + ".safetensors")) {
    for (const std::string& param : GetParam().params) {
      Tensors& tensors = tensors_[param];
      tensors.param = inputs_.load_as<float>("param.step0." + param);
      tensors.exp_avg.resize(tensors.param.size());
      tensors.exp_avg_sq.resize(tensors.param.size());
    }
  }

  std::string options() const {
    const Case& c = GetParam();
    return nlohmann::json{
        {"adam_beta1", c.beta1}, {"adam_beta2", c.beta2}, {"adam_eps", c.eps}, {"decoupled_weight_decay", c.decoupled}}
        .dump();
  }

  void step(OptimizerInstance& optimizer, std::size_t step) {
    std::deque<TestShard> shards;
    std::deque<std::vector<float>> gradients;
    std::vector<const slw_shard*> pointers;
    for (auto& [name, t] : tensors_) {
      const auto n = static_cast<int64_t>(t.param.size());
      gradients.push_back(inputs_.load_as<float>("grad.step" + std::to_string(step) + "." + name));
      TestShard& shard =
          shards.emplace_back(flat_view(t.param.data(), n), flat_view(gradients.back().data(), n),
                              std::vector{flat_view(t.exp_avg.data(), n), flat_view(t.exp_avg_sq.data(), n)});
      shard->lr = GetParam().lr_per_step[step - 1];
      shard->weight_decay = GetParam().weight_decay;
      shard->step = static_cast<int64_t>(step);
      pointers.push_back(shard.get());
    }
    optimizer.step(pointers);
  }

  void compare(const std::string& name, const std::vector<float>& got) {
    const double off = difference(got, expected_.load_as<float>(name));
    EXPECT_LE(off, kTolerance) << name;
    worst_ = std::max(worst_, off);
  }

  SafetensorsReader inputs_, expected_;
  std::map<std::string, Tensors> tensors_;
  double worst_ = 0.0;
};

TEST_P(AdamGolden, FollowsTorch) {
  const slw_plugin& plugin = load_plugin(built_plugins_dir() + "libslipway_adam.so");
  OptimizerInstance optimizer(find_component(plugin, SLW_KIND_OPTIMIZER, "adam"), options());
  for (std::size_t k = 1; k <= GetParam().lr_per_step.size(); ++k) {
    step(optimizer, k);
    for (const auto& [name, tensors] : tensors_) compare("param.step" + std::to_string(k) + "." + name, tensors.param);
  }
  const std::string last = "state.step" + std::to_string(GetParam().lr_per_step.size()) + ".";
  for (const auto& [name, tensors] : tensors_) {
    compare(last + "exp_avg." + name, tensors.exp_avg);
    compare(last + "exp_avg_sq." + name, tensors.exp_avg_sq);
  }
  std::cout << GetParam().name << ": largest difference " << worst_ << "\n";
}

INSTANTIATE_TEST_SUITE_P(Optim, AdamGolden, ::testing::ValuesIn(adam_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(AdamGoldenCases, UnknownKeyFails) {
  const nlohmann::json json{{"software", "torch.optim.AdamW 2"}, {"amsgrad", true}};
  EXPECT_THROW(read_case("made_up", json), std::runtime_error);
}

}  // namespace
