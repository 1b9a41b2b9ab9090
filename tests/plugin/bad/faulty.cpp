// Wrong: model "faulty" and data-parallel backend "faulty_dp" fail on one rank, in one step, in the place that their
// option names. Elsewhere they work: one weight per token that becomes 1; one all-reduce per parameter.
#include <torch/csrc/autograd/custom_function.h>

#include <chrono>
#include <deque>
#include <slipway/torch.hpp>
#include <thread>

namespace {

constexpr const char* kModelPlaces[] = {"nowhere", "forward", "node", "param_acquire", "hang", nullptr};
constexpr const char* kDpPlaces[] = {"nowhere", "grad_ready", nullptr};
constexpr slw::Options kModelOptions{
    slw::string_option("model_fails_in", R"("nowhere")", "Where the model fails.").choices(kModelPlaces),
};
constexpr slw::Options kDpOptions{
    slw::string_option("dp_fails_in", R"("nowhere")", "Where the backend fails.").choices(kDpPlaces),
};
constexpr int64_t kFailingStep = 3;  // from 1
constexpr int kFailingRank = 1;

[[noreturn]] void fail(const char* where) { throw slw::Error(SLW_INTERNAL, slw::cat("broken on purpose: ", where)); }

// x as it is; throws on the way back.
class BrokenNode : public torch::autograd::Function<BrokenNode> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x.clone(); }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    fail("node");
  }
};

class FaultyStage : public slw::TorchStage {
 public:
  FaultyStage(at::Tensor weight, std::string fails_in) : weight_(std::move(weight)), fails_in_(std::move(fails_in)) {}

  slw::TorchOutputs forward(const slw::TorchPass& pass) override {
    const bool is_due = pass.is_training() && pass.args().step + 1 == kFailingStep;
    if (is_due) break_in_forward(*pass.args().hooks);
    at::Tensor error = weight_.index_select(0, pass.field("tokens").reshape({-1})) - 1;
    if (is_due && fails_in_ == "node") error = BrokenNode::apply(error);
    const at::Tensor mask = pass.field("loss_mask").reshape({-1});
    return {{}, {(error * error * mask).sum(at::kDouble)}, {}};
  }

 private:
  void break_in_forward(slw_step_hooks& hooks) const {
    if (fails_in_ == "forward") fail("forward");
    while (fails_in_ == "hang") std::this_thread::sleep_for(std::chrono::seconds(1));
    if (fails_in_ != "param_acquire") return;
    constexpr int32_t kNoParameter = 99;
    slw::call([&](slw_error* e) { return hooks.param_acquire(&hooks, kNoParameter, nullptr, nullptr, nullptr, e); });
  }

  at::Tensor weight_;
  std::string fails_in_;
};

class Faulty : public slw::TorchModel {
 public:
  Faulty(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : TorchModel(host, run),
        fails_in_(run.dp_rank == kFailingRank ? config.string("model_fails_in") : "nowhere"),
        vocab_size_(run.padded_vocab_size) {
    losses_.add("loss", SLW_NORM_FIELD, "loss_mask");
  }

  slw_model_info describe() override {
    slw_model_info info = slw::make<slw_model_info>();
    info.num_layers = 1;
    losses_.put_into(info);
    return info;
  }
  void declare(const slw_stage&, slw::ParamSink& params) override {
    params.add(slw::Param("weight", {vocab_size_}).normal(0, 0.02));
  }
  void io_spec(const slw_io_args&, slw::IoSink& io) override {
    io.required_field("tokens", slw::i64);
    io.required_field("loss_mask", slw::f32);
  }
  std::unique_ptr<slw::TorchStage> make_stage(const slw_stage&, const slw::TorchParams& params) override {
    return std::make_unique<FaultyStage>(params.at("weight"), fails_in_);
  }

 private:
  std::string fails_in_;
  int64_t vocab_size_;
  slw::Losses losses_;
};

class FaultyDp {
 public:
  FaultyDp(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : host_(host), fails_in_(run.dp_rank == kFailingRank ? config.string("dp_fails_in") : "nowhere") {}

  void plan(slw::Items<const slw_dp_param> params, slw::PlanSink& sink) {
    for (const slw_dp_param& param : params) {
      slw_buffer_plan plan = slw::make<slw_buffer_plan>();
      plan.param = plan.grad = slw::f32;
      plan.numel = param.local_numel;
      plan.shard_group = param.group;
      plan.unit = -1;
      plan.chunk = param.chunk;
      const int32_t id = sink.buffer(plan);
      sink.bucket(id, 0, param.local_numel);
      sink.place(param.index, id, 0);
    }
  }
  void attach(const slw_attach_args& args) {
    for (const slw_buffer& buffer : slw::items(args.num_buffers, args.buffers)) gradients_.push_back(buffer.grad);
  }
  void step_begin(const slw_stream*) { ++step_; }
  void grad_ready(const slw_ready_args&) {
    if (fails_in_ == "grad_ready" && step_ == kFailingStep) fail("grad_ready");
  }
  void grad_reduce_finish(const slw_stream* stream) {
    const slw_comm* comm = host_.comm();
    const slw_group* group = comm->group(host_.get(), "dp_cp");
    for (slw_tensor& gradient : gradients_) {
      slw::call([&](slw_error* e) { return comm->all_reduce(group, &gradient, SLW_SUM, stream, nullptr, e); });
    }
  }

 private:
  slw::Host host_;
  std::string fails_in_;
  std::deque<slw_tensor> gradients_;
  int64_t step_ = 0;
};

constexpr slw_component kFaulty = slw::model<Faulty>({"faulty", "Fails when asked to.", 1}, kModelOptions);
constexpr slw_component kFaultyDp = slw::dp<FaultyDp>({"faulty_dp", "Fails when asked to."}, kDpOptions);
constexpr slw::About kAbout{"org.slipway.tests.faulty", "0.1.0", "tests"};

}  // namespace

SLW_PLUGIN(kAbout, &kFaulty, &kFaultyDp);
SLW_REQUIRES_LIBTORCH(SLIPWAY_TORCH_BUILD);
