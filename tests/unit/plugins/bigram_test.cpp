#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <slipway/sdk.hpp>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"
#include "tests/plugin/toy_host.h"

namespace {

using ::testing::HasSubstr;

constexpr int64_t kVocab = 5, kPadded = 8;

const slw_component& bigram() {
  return find_component(load_plugin(built_plugins_dir() + "libslipway_bigram.so"), SLW_KIND_MODEL, "bigram");
}

struct Tokens {
  std::vector<int64_t> tokens, labels;
  std::vector<float> mask;
};

// A batch of one row.
class Batch {
 public:
  explicit Batch(Tokens values) : values_(std::move(values)) {
    const std::vector<int64_t> shape{1, static_cast<int64_t>(values_.tokens.size())};
    views_["tokens"] = std::make_unique<slw::View>(values_.tokens.data(), slw::i64, shape);
    views_["labels"] = std::make_unique<slw::View>(values_.labels.data(), slw::i64, shape);
    views_["loss_mask"] = std::make_unique<slw::View>(values_.mask.data(), slw::f32, shape);
    batch_.impl = this;
    batch_.get = [](const slw_batch* batch, const char* name) -> const slw_tensor* {
      const auto& views = static_cast<const Batch*>(batch->impl)->views_;
      const auto at = views.find(name);
      return at == views.end() ? nullptr : at->second->get();
    };
  }
  const slw_batch* get() const { return &batch_; }
  int64_t size() const { return static_cast<int64_t>(values_.tokens.size()); }

 private:
  Tokens values_;
  std::map<std::string, std::unique_ptr<slw::View>> views_;
  slw_batch batch_ = slw::make<slw_batch>();
};

// The model with its buffers, as a core would hold them.
class Model {
 public:
  explicit Model(int num_threads = 0) : host_(num_threads), weight(kPadded * kPadded), gradient(kPadded * kPadded) {
    slw_run_info run = slw::make<slw_run_info>();
    run.vocab_size = kVocab;
    run.padded_vocab_size = kPadded;
    run.param_dtype = run.grad_dtype = slw::f32;
    const std::string config = complete_config(bigram(), "{}");
    slw::call([&](slw_error* e) { return table.create(host_.get(), config.c_str(), &run, &model, e); });
    stage.pre_process = stage.post_process = 1;
    stage.layer_end = 1;
    declare();
    bind();
    std::mt19937 generator(1);
    std::normal_distribution<float> normal;
    for (int64_t r = 0; r < kVocab; ++r) {
      for (int64_t c = 0; c < kVocab; ++c) weight[static_cast<std::size_t>(r * kPadded + c)] = normal(generator);
    }
  }
  ~Model() { table.destroy(model); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  double forward(const Batch& batch, int32_t slot = 0, uint32_t flags = SLW_FWD_TRAIN, slw_tensor* logits = nullptr) {
    double loss = -1;
    slw::View loss_view(&loss, slw::f64, {});
    slw_tensor* losses[] = {loss_view.get()};
    slw_forward_args args = slw::make<slw_forward_args>();
    args.flags = flags;
    args.stage = &stage;
    args.slot = slot;
    args.batch = batch.get();
    args.num_losses = 1;
    args.loss_sums = losses;
    args.logits = logits;
    slw::call([&](slw_error* e) { return table.forward(model, &args, e); });
    return loss;
  }

  void backward(double loss_grad, int32_t slot = 0) {
    slw::View view(&loss_grad, slw::f64, {});
    const slw_tensor* grads[] = {view.get()};
    slw_step_hooks hooks = slw::make<slw_step_hooks>();
    hooks.impl = &ready;
    hooks.grad_ready = [](slw_step_hooks* h, int32_t index, const slw_stream*, slw_error*) -> slw_status {
      static_cast<std::vector<int32_t>*>(h->impl)->push_back(index);
      return SLW_OK;
    };
    slw_backward_args args = slw::make<slw_backward_args>();
    args.stage = &stage;
    args.slot = slot;
    args.num_losses = 1;
    args.loss_grads = grads;
    args.hooks = &hooks;
    slw::call([&](slw_error* e) { return table.backward(model, &args, e); });
  }

 private:
  void declare() {
    slw_param_sink sink = slw::make<slw_param_sink>();
    sink.impl = this;
    sink.add = [](slw_param_sink* s, const slw_param_decl* decl, int32_t* index, slw_error*) -> slw_status {
      Model& self = *static_cast<Model*>(s->impl);
      self.name = decl->name;
      self.shape = {decl->global_shape[0], decl->global_shape[1], decl->padded_shape[0], decl->padded_shape[1]};
      *index = 0;
      return SLW_OK;
    };
    slw::call([&](slw_error* e) { return table.declare(model, &stage, &sink, e); });
  }
  void bind() {
    slw::View data(weight.data(), slw::f32, {kPadded, kPadded}), grad(gradient.data(), slw::f32, {kPadded, kPadded});
    const slw_param_view view{slw::Known<slw_param_view>::kSize, 0, *data, *grad};
    const slw_param_view* views[] = {&view};
    slw_bind_args args = slw::make<slw_bind_args>();
    args.stage = &stage;
    args.num_params = 1;
    args.params = views;
    slw::call([&](slw_error* e) { return table.bind(model, &args, e); });
  }

  ToyHost host_;

 public:
  const slw_model_vtable& table = *static_cast<const slw_model_vtable*>(bigram().vtable);
  slw_model* model = nullptr;
  slw_stage stage = slw::make<slw_stage>();
  std::string name;
  std::vector<int64_t> shape;
  std::vector<float> weight, gradient;
  std::vector<int32_t> ready;
};

Tokens some_tokens(int64_t count = 12) {
  Tokens t;
  for (int64_t i = 0; i < count; ++i) {
    t.tokens.push_back(i * 3 % kVocab);
    t.labels.push_back((i * i + 1) % kVocab);
    t.mask.push_back(i % 4 == 2 ? 0.0f : 1.0f);
  }
  return t;
}

TEST(Bigram, DeclaresOneTableWithPadding) {
  const Model m;
  EXPECT_EQ(m.name, "bigram.weight");
  EXPECT_EQ(m.shape, (std::vector<int64_t>{kVocab, kVocab, kPadded, kPadded}));
}

TEST(Bigram, DescribesWhatItCanDo) {
  const Model m;
  slw_model_info info = slw::make<slw_model_info>();
  ASSERT_EQ(m.table.describe(m.model, &info, nullptr), SLW_OK);
  ASSERT_EQ(info.num_losses, 1u);
  EXPECT_STREQ(info.losses[0]->name, "lm loss");
  EXPECT_STREQ(info.losses[0]->norm_field, "loss_mask");
  EXPECT_EQ(info.flags & (SLW_MODEL_TP | SLW_MODEL_PP | SLW_MODEL_EP | SLW_MODEL_BF16 | SLW_MODEL_CUDA), 0u);
}

TEST(Bigram, LossIsTheCrossEntropyOverTheTrueVocabulary) {
  Model m;
  const Tokens t = some_tokens();
  double expected = 0;
  for (std::size_t i = 0; i < t.tokens.size(); ++i) {
    const float* row = &m.weight[static_cast<std::size_t>(t.tokens[i] * kPadded)];
    double sum = 0;
    for (int64_t c = 0; c < kVocab; ++c) sum += std::exp(static_cast<double>(row[c]));
    expected += static_cast<double>(t.mask[i]) * (std::log(sum) - static_cast<double>(row[t.labels[i]]));
  }
  EXPECT_NEAR(m.forward(Batch(t)), expected, 1e-5);
}

TEST(Bigram, GradientMatchesFiniteDifferences) {
  Model m;
  const Batch batch(some_tokens());
  m.forward(batch);
  m.backward(0.5);
  EXPECT_EQ(m.ready, std::vector<int32_t>{0});
  for (std::size_t i = 0; i < m.weight.size(); ++i) {
    const float kept = m.weight[i], h = 1e-2f;
    m.weight[i] = kept + h;
    const double up = m.forward(batch, 1, SLW_FWD_NO_SAVE);
    m.weight[i] = kept - h;
    const double down = m.forward(batch, 1, SLW_FWD_NO_SAVE);
    m.weight[i] = kept;
    EXPECT_NEAR(static_cast<double>(m.gradient[i]), 0.5 * (up - down) / (2 * static_cast<double>(h)), 2e-3) << i;
  }
}

TEST(Bigram, PaddingGetsNoGradientAndTakesNoPart) {
  Model m, poisoned;
  const Batch batch(some_tokens());
  for (std::size_t i = 0; i < m.weight.size(); ++i) {
    const bool is_padding = static_cast<int64_t>(i) / kPadded >= kVocab || static_cast<int64_t>(i) % kPadded >= kVocab;
    if (is_padding) poisoned.weight[i] = 1000;
  }
  EXPECT_EQ(m.forward(batch), poisoned.forward(batch));
  poisoned.backward(1);
  m.backward(1);
  EXPECT_EQ(m.gradient, poisoned.gradient);
  for (int64_t c = kVocab; c < kPadded; ++c) EXPECT_EQ(m.gradient[static_cast<std::size_t>(c)], 0.0f);
}

TEST(Bigram, GradientsAreAddedTo) {
  Model once, twice;
  const Batch batch(some_tokens(4));
  once.forward(batch);
  once.backward(1);
  for (int pass = 0; pass < 2; ++pass) {
    twice.forward(batch);
    twice.backward(1);
  }
  for (std::size_t i = 0; i < once.gradient.size(); ++i) EXPECT_FLOAT_EQ(twice.gradient[i], 2 * once.gradient[i]);
}

TEST(Bigram, SlotsAreIndependent) {
  Model interleaved, straight;
  const Batch a(some_tokens(7)), b(some_tokens(12));
  interleaved.forward(a, 0);
  interleaved.forward(b, 3);
  interleaved.backward(1, 0);
  interleaved.backward(1, 3);
  for (const Batch* batch : {&a, &b}) {
    straight.forward(*batch);
    straight.backward(1);
  }
  EXPECT_EQ(interleaved.gradient, straight.gradient);
}

TEST(Bigram, ThreadsDoNotChangeABit) {
  Model one(1), four(4), none(0);
  const Batch batch(some_tokens(200));
  const double loss = one.forward(batch);
  EXPECT_EQ(four.forward(batch), loss);
  EXPECT_EQ(none.forward(batch), loss);
  for (Model* m : {&one, &four, &none}) m->backward(0.25);
  EXPECT_EQ(one.gradient, four.gradient);
  EXPECT_EQ(one.gradient, none.gradient);
}

TEST(Bigram, PartsOfASequenceAddUp) {
  Model m;
  const Tokens all = some_tokens(12);
  Tokens first, second;
  for (std::size_t i = 0; i < 12; ++i) {
    Tokens& part = i < 3 || i >= 9 ? first : second;  // zigzag over two ranks
    part.tokens.push_back(all.tokens[i]);
    part.labels.push_back(all.labels[i]);
    part.mask.push_back(all.mask[i]);
  }
  EXPECT_NEAR(m.forward(Batch(all), 0), m.forward(Batch(first), 1) + m.forward(Batch(second), 2), 1e-12);
}

TEST(Bigram, FillsLogitsWithoutPadding) {
  Model m;
  std::vector<float> logits(12 * kVocab, -1);
  slw::View view(logits.data(), slw::f32, {1, 12, kVocab});
  const Tokens t = some_tokens();
  m.forward(Batch(t), 0, SLW_FWD_NO_SAVE, view.get());
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(logits[i * kVocab + 4], m.weight[static_cast<std::size_t>(t.tokens[i] * kPadded + 4)]);
  }
}

std::string text_of(const std::function<void()>& call, slw_status expected) {
  try {
    call();
  } catch (const slw::Error& e) {
    EXPECT_EQ(e.code(), expected);
    return e.what();
  }
  return "(no error)";
}

// Gradient descent on the dataset "mock" ends near the entropy of its noise: 0.92 ln(1 / 0.92) + 0.08 ln(4 / 0.08).
TEST(Bigram, LearnsTheRuleOfMock) {
  const slw_component& mock =
      find_component(load_plugin(built_plugins_dir() + "libslipway_mock.so"), SLW_KIND_DATASET, "mock");
  DatasetInstance dataset(mock, R"({"vocab_size": 5, "noise": 0.1})", 20000);
  dataset.build({1});
  const Tokens t{dataset.get_i64("tokens", {0}), dataset.get_i64("labels", {0}), std::vector<float>(20000, 1.0f)};
  const Batch batch(t);
  Model m;
  std::fill(m.weight.begin(), m.weight.end(), 0.0f);
  EXPECT_NEAR(m.forward(batch) / 20000, std::log(5.0), 1e-6);
  for (int step = 0; step < 200; ++step) {
    std::fill(m.gradient.begin(), m.gradient.end(), 0.0f);
    m.forward(batch);
    m.backward(1.0 / 20000);
    for (std::size_t i = 0; i < m.weight.size(); ++i) m.weight[i] -= 5 * m.gradient[i];
  }
  EXPECT_NEAR(m.forward(batch) / 20000, 0.3896, 0.02);
}

TEST(Bigram, CallsOutOfOrderAreErrors) {
  Model m;
  EXPECT_THAT(text_of([&] { m.backward(1, 5); }, SLW_PRECONDITION), HasSubstr("slot 5"));
  const Batch batch(some_tokens());
  m.forward(batch);
  m.table.discard(m.model, &m.stage, 0);
  EXPECT_THAT(text_of([&] { m.backward(1); }, SLW_PRECONDITION), HasSubstr("without forward"));
  m.forward(batch, 0, SLW_FWD_NO_SAVE);
  EXPECT_THAT(text_of([&] { m.backward(1); }, SLW_PRECONDITION), HasSubstr("without forward"));
}

TEST(Bigram, IdsOutsideTheVocabularyAreErrors) {
  Model m;
  Tokens t = some_tokens();
  t.tokens[3] = kVocab;
  EXPECT_THAT(text_of([&] { m.forward(Batch(t)); }, SLW_INVALID_ARGUMENT), HasSubstr("token 5"));
  t = some_tokens();
  t.labels[2] = -1;  // masked: never looked at
  EXPECT_NO_THROW(m.forward(Batch(t)));
  t.labels[3] = -1;
  EXPECT_THAT(text_of([&] { m.forward(Batch(t)); }, SLW_INVALID_ARGUMENT), HasSubstr("label -1"));
}

TEST(Bigram, RefusesWhatItCannotDo) {
  Model m;
  EXPECT_EQ(text_of([&] { m.forward(Batch(some_tokens()), 0, 1u << 9); }, SLW_UNSUPPORTED),
            "bigram: slw_forward_args has something unknown to this plugin");
  slw_run_info run = slw::make<slw_run_info>();
  run.vocab_size = run.padded_vocab_size = kVocab;
  run.param_dtype = slw::bf16;
  ToyHost host;
  slw_model* model = nullptr;
  ErrorText error;
  EXPECT_EQ(m.table.create(host.get(), R"({"init_std": 0.02})", &run, &model, error.get()), SLW_UNSUPPORTED);
  EXPECT_THAT(error.text(), HasSubstr("fp32"));
  EXPECT_EQ(model, nullptr);
}

}  // namespace
