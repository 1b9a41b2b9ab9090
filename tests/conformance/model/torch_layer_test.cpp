// slipway/torch.hpp by itself: a model of plain ATen calls behind slw_model_vtable, and the tools it is made of.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/torch.hpp>

namespace {

using testing::HasSubstr;

// One tied matrix that is declared twice, and a frozen bias: loss = sum(mask * logsumexp(gelu(E[x]) E^T + f)).
class Toy : public slw::TorchModel {
 public:
  Toy(slw::Host host, const slw::Config&, const slw_run_info& run) : TorchModel(host, run) {
    losses_.add("loss", SLW_NORM_TOKENS);
  }
  slw_model_info describe() override {
    slw_model_info info = slw::make<slw_model_info>();
    info.num_layers = 1;
    losses_.put_into(info);
    return info;
  }
  void declare(const slw_stage&, slw::ParamSink& params) override {
    params.add(slw::Param("e", {5, 4}).tie("e"));
    params.add(slw::Param("frozen", {5}).frozen());
    params.add(slw::Param("e", {5, 4}).tie("e"));
  }
  void io_spec(const slw_io_args&, slw::IoSink& io) override { io.required_field("tokens", slw::i64); }
  std::unique_ptr<slw::TorchStage> make_stage(const slw_stage&, const slw::TorchParams& params) override {
    struct Stage : slw::TorchStage {
      at::Tensor in, frozen, out;
      slw::TorchOutputs forward(const slw::TorchPass& pass) override {
        const at::Tensor h = at::gelu(at::embedding(in, pass.field("tokens")));
        TORCH_CHECK(pass.args().seq_length != 99, "ninety-nine");
        return {{}, {at::logsumexp(at::matmul(h, out.t()) + frozen, {-1}).sum().to(at::kDouble)}, {}};
      }
    };
    auto stage = std::make_unique<Stage>();
    stage->in = params[0];
    stage->frozen = params.at("frozen");
    stage->out = params[2];
    return stage;
  }

 private:
  slw::Losses losses_;
};

class TorchLayer : public testing::Test {
 protected:
  void SetUp() override {
    host_.struct_size = slw::Known<slw_host>::kSize;
    host_.get_service = [](const slw_host*, const char*) -> const void* { return nullptr; };
    slw_run_info run = slw::make<slw_run_info>();
    expect_ok([&](slw_error* e) { return table_.create(&host_, "{}", &run, &model_, e); });
    stage_.pre_process = stage_.post_process = stage_.layer_end = 1;
    values_ = at::arange(20, at::kFloat).div_(10).sub_(1).view({5, 4});
    bind();
  }
  void TearDown() override { table_.destroy(model_); }

  void bind() {
    const auto add = [&](int32_t index, const at::Tensor& data, const at::Tensor& grad,
                         const std::vector<int64_t>& shape) {
      slw_param_view view = slw::make<slw_param_view>();
      view.index = index;
      view.data = *views_.emplace_back(data.data_ptr(), slw::f32, shape);
      if (grad.defined()) view.grad = *views_.emplace_back(grad.data_ptr(), slw::f32, shape);
      params_.push_back(view);
    };
    add(0, values_, gradient_, {5, 4});
    add(1, frozen_, {}, {5});
    add(2, values_, gradient_, {5, 4});
    slw_bind_args args = slw::make<slw_bind_args>();
    const slw_param_view* rows[3] = {&params_[0], &params_[1], &params_[2]};
    args.stage = &stage_;
    args.num_params = 3;
    args.params = rows;
    expect_ok([&](slw_error* e) { return table_.bind(model_, &args, e); });
  }

  template <class Call>
  void expect_ok(Call&& call) {
    ASSERT_EQ(run(call), SLW_OK) << text_;
  }
  template <class Call>
  slw_status run(Call&& call) {
    slw_error error{SLW_SIZE_TO(slw_error, needed), SLW_OK, text_, sizeof text_, 0};
    text_[0] = '\0';
    return call(&error);
  }

  slw_status forward(int32_t slot, uint32_t flags, int64_t length) {
    slw_forward_args args = slw::make<slw_forward_args>();
    args.flags = flags;
    args.stage = &stage_;
    args.slot = slot;
    args.batch_size = 1;
    args.seq_length = length;
    slw::View tokens(tokens_.data_ptr(), slw::i64, {1, 3});
    slw_batch batch = slw::make<slw_batch>();
    batch.impl = tokens.get();
    batch.get = [](const slw_batch* b, const char*) { return static_cast<const slw_tensor*>(b->impl); };
    args.batch = &batch;
    slw::View loss(&loss_, slw::f64, {});
    slw_tensor* losses[1] = {loss.get()};
    args.num_losses = 1;
    args.loss_sums = losses;
    args.stream.device = {SLW_DEVICE_CPU, 0};
    return run([&](slw_error* e) { return table_.forward(model_, &args, e); });
  }

  static slw_status on_ready(slw_step_hooks* hooks, int32_t index, const slw_stream*, slw_error* error) {
    auto* self = static_cast<TorchLayer*>(hooks->impl);
    self->ready_.push_back(index);
    if (index != self->failing_) return SLW_OK;
    return slw::put(error, SLW_COMM, "the reduction of a bucket failed");
  }
  slw_status backward(int32_t slot) {
    slw_step_hooks hooks = slw::make<slw_step_hooks>();
    hooks.impl = this;
    hooks.grad_ready = on_ready;
    slw_backward_args args = slw::make<slw_backward_args>();
    args.stage = &stage_;
    args.slot = slot;
    args.num_losses = 1;
    double seed = 1;
    slw::View loss(&seed, slw::f64, {});
    const slw_tensor* losses[1] = {loss.get()};
    args.loss_grads = losses;
    args.stream.device = {SLW_DEVICE_CPU, 0};
    args.hooks = &hooks;
    return run([&](slw_error* e) { return table_.backward(model_, &args, e); });
  }

  // The same with nothing of ours.
  at::Tensor plain_gradient() const {
    at::Tensor e = values_.clone().set_requires_grad(true);
    const at::Tensor h = at::gelu(at::embedding(e, tokens_));
    at::logsumexp(at::matmul(h, e.t()) + frozen_, {-1}).sum().backward();
    return e.grad();
  }

  const slw_model_vtable table_ = slw::model_table<Toy>;
  slw_host host_{};
  slw_model* model_ = nullptr;
  slw_stage stage_ = slw::make<slw_stage>();
  at::Tensor values_, gradient_ = at::zeros({5, 4}), frozen_ = at::ones({5}) * 0.5;
  at::Tensor tokens_ = at::arange(1, 4, at::kLong);
  std::deque<slw::View> views_;
  std::vector<slw_param_view> params_;
  std::vector<int32_t> ready_;
  int32_t failing_ = -1;
  double loss_ = 0;
  char text_[512] = {};
};

TEST_F(TorchLayer, AddsPlainAutogradIntoTheCoresBuffer) {
  ASSERT_EQ(forward(0, SLW_FWD_TRAIN, 3), SLW_OK) << text_;
  ASSERT_EQ(backward(0), SLW_OK) << text_;
  EXPECT_TRUE(at::allclose(gradient_, plain_gradient()));
  EXPECT_THAT(ready_, testing::UnorderedElementsAre(0, 2));
}

TEST_F(TorchLayer, PassesOnWhatAHookReports) {
  ASSERT_EQ(forward(0, SLW_FWD_TRAIN, 3), SLW_OK);
  failing_ = 2;
  EXPECT_EQ(backward(0), SLW_COMM);
  EXPECT_STREQ(text_, "the reduction of a bucket failed");
  EXPECT_EQ(backward(0), SLW_PRECONDITION) << "the slot is empty after a failure";
}

TEST_F(TorchLayer, TurnsLibTorchsErrorsIntoTextWithoutABacktrace) {
  EXPECT_EQ(forward(0, SLW_FWD_TRAIN, 99), SLW_INTERNAL);
  EXPECT_THAT(text_, HasSubstr("ninety-nine"));
  EXPECT_THAT(text_, testing::Not(HasSubstr("frame #")));
}

TEST_F(TorchLayer, RefusesAnOccupiedSlot) {
  ASSERT_EQ(forward(4, SLW_FWD_TRAIN, 3), SLW_OK);
  EXPECT_EQ(forward(4, SLW_FWD_TRAIN, 3), SLW_PRECONDITION);
  EXPECT_THAT(text_, HasSubstr("slot 4"));
  table_.discard(model_, &stage_, 4);
  EXPECT_EQ(forward(4, SLW_FWD_TRAIN, 3), SLW_OK);
}

TEST_F(TorchLayer, UnbindsAndBindsAgain) {
  expect_ok([&](slw_error* e) { return table_.unbind(model_, &stage_, e); });
  EXPECT_EQ(forward(0, SLW_FWD_TRAIN, 3), SLW_PRECONDITION);
  params_.clear();
  bind();
  EXPECT_EQ(forward(0, SLW_FWD_TRAIN, 3), SLW_OK);
}

// ---- linear ----

at::Tensor leaf(at::Tensor values, at::ScalarType gradient_type = at::kFloat) {
  values.set_requires_grad(true);
  values.mutable_grad() = at::zeros(values.sizes(), gradient_type);
  return values;
}

struct LinearCase {
  int64_t tokens, in, out, rows;
  bool has_bias, has_residual;
};
class Linear : public testing::TestWithParam<LinearCase> {};

TEST_P(Linear, EqualsItsFormula) {
  const LinearCase c = GetParam();
  const at::Tensor x = at::sin(at::arange(c.tokens * c.in, at::kFloat)).view({2, c.tokens / 2, c.in});
  const at::Tensor w = at::cos(at::arange(c.out * c.in, at::kFloat)).view({c.out, c.in});
  const at::Tensor b = at::arange(c.out, at::kFloat), r = at::ones({2, c.tokens / 2, c.rows});
  const at::Tensor seed = at::sin(at::arange(c.tokens * c.rows, at::kFloat) * 2).view({2, c.tokens / 2, c.rows});

  at::Tensor want[4] = {x.clone(), w.clone(), b.clone(), r.clone()},
             got[4] = {x.clone(), leaf(w.clone()), leaf(b.clone()), r.clone()};
  for (const int i : {0, 3}) got[i].set_requires_grad(true);
  for (at::Tensor& t : want) t.set_requires_grad(true);
  at::Tensor y = at::matmul(want[0], want[1].narrow(0, 0, c.rows).t());
  if (c.has_bias) y = y + want[2].narrow(0, 0, c.rows);
  if (c.has_residual) y = y + want[3];
  const at::Tensor ours =
      slw::linear(got[0], got[1], c.has_bias ? got[2] : at::Tensor(), c.has_residual ? got[3] : at::Tensor(), c.rows);
  EXPECT_TRUE(at::allclose(ours, y, 1e-4, 1e-4));
  y.backward(seed);
  ours.backward(seed);
  EXPECT_TRUE(at::allclose(got[0].grad(), want[0].grad(), 1e-4, 1e-3));
  EXPECT_TRUE(at::allclose(got[1].grad(), want[1].grad(), 1e-4, 1e-3));
  if (c.has_bias) {
    EXPECT_TRUE(at::allclose(got[2].grad(), want[2].grad(), 1e-4, 1e-3));
  }
  if (c.has_residual) {
    EXPECT_TRUE(at::allclose(got[3].grad(), want[3].grad()));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Linear,
                         testing::Values(LinearCase{6, 5, 7, 7, true, true}, LinearCase{6, 5, 7, 4, true, true},
                                         LinearCase{6, 5, 7, 7, false, false}, LinearCase{6, 5, 7, 3, false, true},
                                         LinearCase{260, 130, 140, 140, true, true},
                                         LinearCase{260, 130, 140, 101, true, true},
                                         LinearCase{260, 130, 140, 101, false, false},
                                         LinearCase{260, 130, 140, 140, true, false}));

TEST(LinearInBf16, AddsToAnFp32GradientWithoutRounding) {
  at::Tensor w = leaf(at::ones({1, 1}, at::kBFloat16));
  w.mutable_grad().fill_(256);
  const at::Tensor x = at::ones({1, 1}, at::kBFloat16);
  slw::linear(x, w).sum().backward();
  EXPECT_EQ(w.grad().scalar_type(), at::kFloat);
  EXPECT_EQ(w.grad().item<float>(), 257.0f);
}

TEST(LinearOfSwappedMemory, UsesWhatTheParameterHoldsInBackward) {
  at::Tensor w = leaf(at::ones({3, 3}));
  const at::Tensor x = at::ones({2, 3}).set_requires_grad(true);
  const at::Tensor y = slw::linear(x, w);
  at::Tensor elsewhere = at::full({3, 3}, 2.0f);
  w.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()->set_data_ptr_noswap(
      c10::DataPtr(elsewhere.data_ptr(), c10::Device(c10::kCPU)));
  y.sum().backward();
  EXPECT_TRUE(at::allclose(x.grad(), at::full({2, 3}, 6.0f)));
}

// ---- dropout ----

TEST(DropoutRow, SlicesDrawWhatTheWholeDraws) {
  slw::Dropout d;
  d.key = slw_philox_key(7, "dropout", "here");
  d.p = 0.5;
  const std::vector<float> ones(100, 1.0f);
  std::vector<float> whole(100), part(100);
  slw::drop_row(d, {11, 5, 0, 0}, 100, ones.data(), nullptr, whole.data());
  for (const int64_t begin : {1, 2, 3, 4, 33, 64}) {
    slw::drop_row(d, {11, 5, begin, begin}, 100 - begin, ones.data(), nullptr, part.data());
    for (int64_t c = begin; c < 100; ++c) {
      EXPECT_EQ(part[static_cast<std::size_t>(c - begin)], whole[static_cast<std::size_t>(c)]) << begin << " " << c;
    }
  }
  for (uint32_t c = 0; c < 100; ++c) {
    const bool is_kept = slw_philox(d.key, c / 4, 5, 11, 0).lane[c % 4] >= slw_dropout_threshold(0.5);
    EXPECT_EQ(whole[c], is_kept ? 2.0f : 0.0f) << c;
  }
}

// rng=megatron: by element, also where the block number passes 32 bits.
TEST(DropoutRow, AStreamsMaskIsThatOfItsBlocks) {
  slw::Dropout d;
  d.key = 99;
  d.p = 0.5;
  d.is_sequential = true;
  d.offset = (uint64_t{1} << 32) - 3;
  const std::vector<float> ones(70, 1.0f);
  std::vector<float> row(70);
  constexpr int64_t kFirst = 6;  // element of the tensor with which the row begins
  slw::drop_row(d, {0, 0, 0, kFirst}, 70, ones.data(), nullptr, row.data());
  for (int64_t c = 0; c < 70; ++c) {
    const auto element = static_cast<uint64_t>(kFirst + c);
    const uint64_t block = d.offset + element / 4;
    const slw_philox_block words =
        slw_philox(d.key, static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0);
    const bool is_dropped = words.lane[element % 4] < slw_dropout_threshold(d.p);
    EXPECT_EQ(row[static_cast<size_t>(c)], is_dropped ? 0.0f : 2.0f) << c;
  }
}

}  // namespace
