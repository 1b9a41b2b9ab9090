// What every model owes the core, whatever it computes. Runs on each built model through slw_model_vtable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/conformance/model/subjects.h"

namespace slipway {
namespace {

constexpr double kLossGradient = 1.0 / 32;
constexpr double kRounding = 2e-5;  // another order of fp32 sums

class ModelConformance : public testing::TestWithParam<Subject> {
 protected:
  static std::unique_ptr<ModelHarness> make(const ModelSetup& setup) {
    auto model = std::make_unique<ModelHarness>(setup);
    model->initialize();
    return model;
  }
  static std::unique_ptr<ModelHarness> make() { return make(setup_of(GetParam())); }

  static bool can(const ModelHarness& model, uint32_t capability) {
    return (model.description().capabilities & capability) != 0;
  }
};

void expect_failure(const std::string& what, const std::function<void()>& body) {
  try {
    body();
    FAIL() << "nothing was refused";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(what));
  }
}

TEST_P(ModelConformance, RepeatsBitForBit) {
  const auto a = make(), b = make();
  EXPECT_EQ(a->forward(batch_of(0), {}).loss_sum, b->forward(batch_of(0), {}).loss_sum);
  a->backward(0, kLossGradient);
  b->backward(0, kLossGradient);
  EXPECT_EQ(gradients_of(*a), gradients_of(*b));
}

TEST_P(ModelConformance, AddsToGradients) {
  const auto model = make();
  Gradients once;
  for (int pass = 0; pass < 2; ++pass) {
    model->forward(batch_of(0), {});
    model->backward(0, kLossGradient);
    if (pass == 0) once = gradients_of(*model);
  }
  Gradients half = gradients_of(*model);
  for (auto& [name, values] : half) {
    for (float& v : values) v /= 2;
  }
  EXPECT_LE(distance(half, once), kRounding);
}

TEST_P(ModelConformance, GradientIsTheSlopeOfTheLoss) {
  const auto model = make();
  model->forward(batch_of(0), {});
  model->backward(0, 1.0);
  for (const std::string& name : model->parameter_names()) {
    const std::vector<float> gradient = model->gradient(name);
    double slope = 0;
    for (const float g : gradient) slope += static_cast<double>(g) * g;
    if (slope < 1e-6) continue;
    std::vector<float> values = model->values(name);
    const double step = 1e-3 / std::sqrt(slope);
    double losses[2];
    for (int side = 0; side < 2; ++side) {
      std::vector<float> moved = values;
      for (std::size_t i = 0; i < moved.size(); ++i) {
        moved[i] += static_cast<float>((side == 0 ? -step : step) * gradient[i]);
      }
      model->set(name, moved);
      losses[side] = model->forward(batch_of(0), {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, false}).loss_sum;
    }
    model->set(name, values);
    const double measured = (losses[1] - losses[0]) / (2 * step);
    EXPECT_NEAR(measured, slope, 0.05 * slope + 0.02 * std::sqrt(slope)) << name;
  }
}

TEST_P(ModelConformance, KeepsSlotsApart) {
  const auto one = make(), many = make();
  for (int64_t i = 0; i < 3; ++i) {
    one->forward(batch_of(i), {});
    one->backward(0, kLossGradient);
  }
  for (int i = 0; i < 3; ++i) many->forward(batch_of(i), {i, SLW_FWD_TRAIN, false});
  for (const int i : {0, 1, 2}) many->backward(i, kLossGradient);
  EXPECT_EQ(gradients_of(*many), gradients_of(*one));
}

TEST_P(ModelConformance, RecomputesTheSame) {
  const auto straight = make(), again = make();
  const double loss = straight->forward(batch_of(0), {}).loss_sum;
  straight->backward(0, kLossGradient);
  EXPECT_EQ(again->forward_recompute_backward(batch_of(0), SLW_FWD_TRAIN, kLossGradient).loss_sum, loss);
  EXPECT_EQ(gradients_of(*again), gradients_of(*straight));
}

TEST_P(ModelConformance, MicrobatchesAddUp) {
  const auto whole = make(), parts = make();
  const ModelBatch batch = batch_of(2);
  const double loss = whole->forward(batch, {}).loss_sum;
  whole->backward(0, kLossGradient);
  double sum = 0;
  for (int64_t row = 0; row < kBatch; ++row) {
    sum += parts->forward(batch.sample(row), {}).loss_sum;
    parts->backward(0, kLossGradient);
  }
  EXPECT_NEAR(sum, loss, 1e-6 * loss);
  EXPECT_LE(distance(gradients_of(*parts), gradients_of(*whole)), kRounding);
}

TEST_P(ModelConformance, PipelineStagesChangeNothing) {
  const auto whole = make();
  if (!can(*whole, SLW_MODEL_PP)) GTEST_SKIP() << "the model has no SLW_MODEL_PP";
  const double loss = whole->forward(batch_of(0), {}).loss_sum;
  whole->backward(0, kLossGradient);
  for (const int stages : {2, 3, 4}) {
    ModelSetup setup = setup_of(GetParam());
    setup.num_stages = stages;
    const auto cut = make(setup);
    EXPECT_EQ(cut->forward(batch_of(0), {}).loss_sum, loss) << stages;
    cut->backward(0, kLossGradient);
    EXPECT_LE(distance(gradients_of(*cut), gradients_of(*whole)), kRounding) << stages;
    EXPECT_EQ(cut->forward_recompute_backward(batch_of(0), SLW_FWD_TRAIN, kLossGradient).loss_sum, loss) << stages;
  }
}

TEST_P(ModelConformance, VocabularyPaddingChangesNothing) {
  const auto plain = make();
  const double loss = plain->forward(batch_of(0), {}).loss_sum;
  plain->backward(0, kLossGradient);
  for (const int64_t padded : {64, 128}) {
    ModelSetup setup = setup_of(GetParam());
    setup.padded_vocab_size = padded;
    const auto model = make(setup);
    EXPECT_NEAR(model->forward(batch_of(0), {}).loss_sum, loss, 1e-6 * loss);
    model->backward(0, kLossGradient);
    EXPECT_LE(distance(gradients_of(*model), gradients_of(*plain)), kRounding);
    for (const std::string& name : model->parameter_names()) {
      EXPECT_THAT(model->padding_gradient(name), testing::Each(0.0f)) << name;
    }
  }
}

TEST_P(ModelConformance, ReportsEachGradientOnceAndWhenItIsComplete) {
  ModelSetup setup = setup_of(GetParam());
  setup.keeps_ready_gradients = true;
  const auto model = make(setup);
  model->forward(batch_of(0), {});
  model->take_ready_names();
  model->backward(0, kLossGradient);
  const Gradients complete = gradients_of(*model);
  const std::vector<std::string> ready = model->take_ready_names();
  EXPECT_EQ(std::set<std::string>(ready.begin(), ready.end()).size(), ready.size());
  for (const auto& [name, gradient] : model->ready_gradients()) EXPECT_EQ(gradient, complete.at(name)) << name;
}

TEST_P(ModelConformance, GivesLogitsThatExplainTheLoss) {
  const auto model = make();
  if (!can(*model, SLW_MODEL_LOGITS)) GTEST_SKIP() << "the model has no SLW_MODEL_LOGITS";
  const ModelBatch batch = batch_of(1);
  const PassResult result = model->forward(batch, {0, SLW_FWD_NO_SAVE, true});
  double sum = 0;
  for (std::size_t t = 0; t < batch.labels.size(); ++t) {
    const float* row = result.logits.data() + t * kVocab;
    double total = 0;
    for (int64_t c = 0; c < kVocab; ++c) total += std::exp(static_cast<double>(row[c]));
    sum += batch.loss_mask[t] * (std::log(total) - row[batch.labels[t]]);
  }
  EXPECT_NEAR(result.loss_sum, sum, 1e-5 * sum);
}

TEST_P(ModelConformance, DropsNothingOutsideOfTraining) {
  nlohmann::json options = GetParam().options;
  const auto model = make();
  for (const char* name : {"hidden_dropout", "attention_dropout"}) {
    if (options.contains(name)) options[name] = 0.0;
  }
  ModelSetup without = setup_of(GetParam());
  without.options = options;
  const double loss = make(without)->forward(batch_of(0), {0, SLW_FWD_NO_SAVE, false}).loss_sum;
  EXPECT_NEAR(model->forward(batch_of(0), {0, SLW_FWD_NO_SAVE, false}).loss_sum, loss, 1e-6 * loss);
}

TEST_P(ModelConformance, TakesOtherSequenceLengths) {
  const auto model = make();
  if (!can(*model, SLW_MODEL_VAR_SEQ)) GTEST_SKIP() << "the model has no SLW_MODEL_VAR_SEQ";
  const double before = model->forward(batch_of(0), {0, SLW_FWD_NO_SAVE, false}).loss_sum;
  EXPECT_TRUE(std::isfinite(model->forward(batch_of(0, 5), {1, SLW_FWD_TRAIN, false}).loss_sum));
  model->backward(1, kLossGradient);
  EXPECT_EQ(model->forward(batch_of(0), {0, SLW_FWD_NO_SAVE, false}).loss_sum, before);
}

TEST_P(ModelConformance, RefusesBackwardWithoutAPass) {
  const auto model = make();
  EXPECT_THROW(model->backward(0, kLossGradient), Error);
  model->forward(batch_of(0), {0, SLW_FWD_TRAIN | SLW_FWD_NO_SAVE, false});
  EXPECT_THROW(model->backward(0, kLossGradient), Error);
  model->forward(batch_of(0), {});
  model->discard(0);
  EXPECT_THROW(model->backward(0, kLossGradient), Error);
  model->discard(7);
  EXPECT_EQ(distance(gradients_of(*model), gradients_of(*make())), 0);
}

TEST_P(ModelConformance, RefusesUnknownMustFlags) {
  const auto model = make();
  expect_failure("nsupported", [&] { model->forward(batch_of(0), {0, 1u << 9, false}); });
  model->forward(batch_of(0), {0, SLW_FWD_TRAIN | 1u << 20, false});
}

TEST_P(ModelConformance, DeclaresTheSameWhateverTheRank) {
  ModelSetup scrambled = setup_of(GetParam());
  scrambled.rank_noise = 3;
  const ModelHarness a(setup_of(GetParam())), b(scrambled);
  ASSERT_EQ(a.parameter_names(), b.parameter_names());
  for (const std::string& name : a.parameter_names()) {
    EXPECT_EQ(a.declaration(name).local.shape, b.declaration(name).local.shape) << name;
    EXPECT_EQ(a.declaration(name).decl().init_b, b.declaration(name).decl().init_b) << name;
  }
}

TEST_P(ModelConformance, RefusesTokensOutsideTheVocabulary) {
  const auto model = make();
  for (const int64_t bad : {kVocab, int64_t{-1}}) {
    ModelBatch batch = batch_of(0);
    batch.tokens[17] = bad;
    expect_failure(std::to_string(bad), [&] { model->forward(batch, {}); });
    model->discard(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ModelConformance, testing::ValuesIn(subjects()),
                         [](const testing::TestParamInfo<Subject>& info) { return info.param.title; });

}  // namespace
}  // namespace slipway
