// The gpt plugin against Megatron-core, through slw_plugin_v0's v-table. Tolerances are 20 times those that the golden
// README states for another fp32 implementation.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <set>

#include "core/checkpoint/safetensors.h"
#include "tests/golden/gpt/case.h"
#include "tests/support/golden_values.h"

namespace slipway::golden {
namespace {

constexpr double kLossTolerance = 20 * 3e-7, kLogitTolerance = 20 * 1e-6, kGradientTolerance = 20 * 1e-5;

std::vector<std::filesystem::path> all_cases() {
  std::vector<std::filesystem::path> paths = files("megatron_gpt/*/case.json");
  const std::vector<std::filesystem::path> variants = files("megatron_gpt/variants/*.json");
  paths.insert(paths.end(), variants.begin(), variants.end());
  return paths;
}

std::string test_name(const testing::TestParamInfo<std::filesystem::path>& info) {
  const bool is_full = info.param.filename() == "case.json";
  const std::string name = is_full ? info.param.parent_path().filename().string() : info.param.stem().string();
  std::string letters;
  for (const char c : name) letters += std::isalnum(static_cast<unsigned char>(c)) != 0 ? std::string(1, c) : "";
  return letters + std::to_string(info.index);
}

double largest(const std::vector<float>& values) {
  double most = 0;
  for (const float v : values) most = std::max(most, std::abs(static_cast<double>(v)));
  return most;
}

double norm_of(const std::vector<float>& values) {
  double squares = 0;
  for (const float v : values) squares += static_cast<double>(v) * v;
  return std::sqrt(squares);
}

void expect_close(const std::vector<float>& got, const std::vector<float>& want, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - want[i]);
    if (!(difference <= worst)) worst = difference, at = i;
  }
  EXPECT_LE(worst, tolerance) << what << " at " << at << ": " << got[at] << " for " << want[at];
}

// -log softmax(logits)[label], per token, in fp64.
std::vector<float> token_losses(const std::vector<float>& logits, const ModelBatch& batch, std::size_t vocab) {
  std::vector<float> losses;
  for (std::size_t t = 0; t < batch.labels.size(); ++t) {
    const float* x = logits.data() + t * vocab;
    double total = 0;
    for (std::size_t c = 0; c < vocab; ++c) total += std::exp(static_cast<double>(x[c]));
    losses.push_back(static_cast<float>(std::log(total) - x[batch.labels[t]]));
  }
  return losses;
}

class GoldenGpt : public testing::TestWithParam<std::filesystem::path> {
 protected:
  void SetUp() override {
    case_ = read_gpt_case(GetParam());
    batch_ = make_batch(case_);
    model_ = make_model(case_, case_.setup);
    result_ = model_->forward(batch_, {0, SLW_FWD_TRAIN, true});
    model_->backward(0, 1.0 / sum_of_mask(batch_));
  }

  const nlohmann::json& want(const char* key) const { return case_.json.at(key); }

  // Gradients whose true value is zero are rounding noise: they are measured against the model's largest.
  double gradient_tolerance(double absmax) const {
    double most = 0;
    for (const auto& [name, summary] : want("grads").items()) most = std::max(most, summary.at("absmax").get<double>());
    return kGradientTolerance * std::max(absmax, 1e-3 * most);
  }

  void check_gradient_summary(const std::string& name, const nlohmann::json& summary) const {
    const std::vector<float> gradient = model_->gradient(name);
    const double absmax = summary.at("absmax").get<double>(), tolerance = gradient_tolerance(absmax);
    const double spread = std::sqrt(static_cast<double>(gradient.size()));
    ASSERT_EQ(summary.at("shape").get<std::vector<int64_t>>(), model_->declaration(name).declaration->global_shape());
    double sum = 0;
    for (const float g : gradient) sum += g;
    EXPECT_NEAR(largest(gradient), absmax, tolerance) << name;
    EXPECT_NEAR(norm_of(gradient), summary.at("l2").get<double>(), tolerance * spread) << name;
    EXPECT_NEAR(sum, summary.at("sum").get<double>(), tolerance * spread) << name;
    const auto first = summary.at("first8").get<std::vector<float>>();
    expect_close({gradient.begin(), gradient.begin() + static_cast<std::ptrdiff_t>(first.size())}, first, tolerance,
                 name);
  }

  GptCase case_;
  ModelBatch batch_;
  std::unique_ptr<ModelHarness> model_;
  PassResult result_;
};

TEST_P(GoldenGpt, LossMatches) {
  const double mask = sum_of_mask(batch_), mean = want("loss_mean").get<double>();
  EXPECT_EQ(mask, want("loss_mask_sum").get<double>());
  EXPECT_NEAR(result_.loss_sum / mask, mean, kLossTolerance * mean);
  const double sum = want("loss_sum_masked").get<double>();
  EXPECT_NEAR(result_.loss_sum, sum, kLossTolerance * sum);
}

TEST_P(GoldenGpt, TokenLossesMatch) {
  const std::vector<float> losses =
      token_losses(result_.logits, batch_, static_cast<std::size_t>(case_.setup.vocab_size));
  double sum = 0;
  for (std::size_t t = 0; t < losses.size(); ++t) sum += static_cast<double>(losses[t]) * batch_.loss_mask[t];
  EXPECT_NEAR(sum, result_.loss_sum, kLossTolerance * sum);
  if (!case_.json.contains("per_token_loss_first8")) return;
  const auto first = want("per_token_loss_first8").get<std::vector<float>>();
  expect_close({losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(first.size())}, first,
               kLossTolerance * largest(first), "per token loss");
}

TEST_P(GoldenGpt, GradientsMatch) {
  const nlohmann::json& grads = want("grads");
  EXPECT_EQ(grads.size(), model_->parameter_names().size());
  double squares = 0;
  for (const std::string& name : model_->parameter_names()) {
    ASSERT_TRUE(grads.contains(name)) << name;
    check_gradient_summary(name, grads.at(name));
    squares += std::pow(norm_of(model_->gradient(name)), 2);
  }
  const double norm = want("grad_norm_total").get<double>();
  EXPECT_NEAR(std::sqrt(squares), norm, kGradientTolerance * norm);
}

TEST_P(GoldenGpt, PositionIdsOfTheDataGiveTheSame) {
  ModelBatch batch = batch_;
  for (int64_t r = 0; r < batch.batch_size; ++r) {
    for (int64_t t = 0; t < batch.seq_length; ++t) batch.position_ids.push_back(t);
  }
  EXPECT_EQ(model_->forward(batch, {0, SLW_FWD_NO_SAVE, false}).loss_sum, result_.loss_sum);
}

TEST_P(GoldenGpt, VocabularyPaddingChangesNothing) {
  ModelSetup padded = case_.setup;
  padded.padded_vocab_size = (padded.vocab_size / 128 + 1) * 128;
  const auto model = make_model(case_, padded);
  EXPECT_EQ(model->forward(batch_, {0, SLW_FWD_TRAIN, false}).loss_sum, result_.loss_sum);
  model->backward(0, 1.0 / sum_of_mask(batch_));
  for (const std::string& name : model->parameter_names()) {
    const std::vector<float> gradient = model->gradient(name);
    expect_close(gradient, model_->gradient(name), 1e-6 * largest(gradient), name);
    EXPECT_EQ(largest(model->padding_gradient(name)), 0) << name;
  }
}

// Cases with whole tensors beside them.
class StoredGpt : public GoldenGpt {};

TEST_P(StoredGpt, StoredTensorsMatch) {
  const SafetensorsReader io(case_.folder / "io.safetensors"), grads(case_.folder / "grads.safetensors");
  EXPECT_EQ(io.load_as<int64_t>("tokens"), batch_.tokens);
  EXPECT_EQ(io.load_as<int64_t>("labels"), batch_.labels);
  const auto logits = io.load_as<float>("logits");
  expect_close(result_.logits, logits, kLogitTolerance * std::max(1.0, largest(logits)), "logits");
  const auto losses = io.load_as<float>("per_token_loss");
  expect_close(token_losses(result_.logits, batch_, static_cast<std::size_t>(case_.setup.vocab_size)), losses,
               kLossTolerance * largest(losses), "per token loss");
  for (const SafetensorsEntry& entry : grads.entries()) {
    const auto gradient = grads.load_as<float>(entry.name);
    expect_close(model_->gradient(entry.name), gradient, gradient_tolerance(largest(gradient)), entry.name);
  }
}

TEST(GoldenConfig, UnknownKeysFail) {
  GptCase c = read_gpt_case(all_cases().front());
  c.setup.options["mystery_option"] = 1;
  EXPECT_THROW(make_model(c, c.setup), ConfigError);
}

// Says what of the golden data has no test so far.
TEST(GoldenFolders, UncoveredOnesArePrinted) {
  const std::set<std::string> covered = {"megatron_gpt", "optim", "parallel", "schedule", "train"};
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    const std::string name = entry.path().filename().string();
    if (entry.is_directory() && !covered.contains(name)) std::cout << "not covered by a test: " << name << "/\n";
  }
}

INSTANTIATE_TEST_SUITE_P(Case, GoldenGpt, testing::ValuesIn(all_cases()), test_name);
INSTANTIATE_TEST_SUITE_P(Case, StoredGpt, testing::ValuesIn(files("megatron_gpt/*/case.json")), test_name);

}  // namespace
}  // namespace slipway::golden
