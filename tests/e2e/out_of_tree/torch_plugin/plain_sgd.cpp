// Optimizer "plain_sgd": gradient descent with LibTorch, as somebody outside Slipway's tree would write it.
#include <slipway/sdk.hpp>
#include <slipway/torch/tensor.hpp>

namespace {

constexpr slw::Options kOptions{slw::float_option("sgd_scale", "1", "Multiplies the learning rate.").min("0")};

class PlainSgd {
 public:
  PlainSgd(slw::Host, const slw::Config& config, const slw_run_info&) : scale_(config.number("sgd_scale")) {}

  void declare(const slw_param_decl&, slw::StateSink& sink) const { sink.layouts(SLW_LAYOUT_FLAT | SLW_LAYOUT_PARAM); }

  void step(const slw_opt_step_args& args) const {
    for (const slw_shard& shard : slw::items(args.num_shards, args.shards)) {
      at::Tensor weight = slw::as_tensor(shard.master);
      weight.add_(slw::as_tensor(shard.grad), -shard.lr * scale_ * args.grad_scale);
    }
  }

 private:
  double scale_;
};

constexpr slw_component kPlainSgd =
    slw::optimizer<PlainSgd>({"plain_sgd", "Gradient descent without momentum or weight decay."}, kOptions);
constexpr slw::About kAbout{"org.example.plain_sgd", "1.0.0", "Example"};

}  // namespace

SLW_PLUGIN(kAbout, &kPlainSgd);
SLW_REQUIRES_LIBTORCH(SLIPWAY_TORCH_BUILD);
