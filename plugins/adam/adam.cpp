// Optimizer "adam": AdamW, or Adam with L2 regularisation, with the numbers of torch.optim. It keeps nothing between
// steps: learning rate, weight decay, step count and moments come with every shard.
#include <slipway/sdk.hpp>

#include "plugins/adam/work_list.h"

namespace {

constexpr std::int64_t kGrain = 16384;  // elements a thread takes at least: 448 KiB of traffic

constexpr const char* kCoupledFlag[] = {"no-decoupled-weight-decay=false", nullptr};
constexpr slw::Options kOptions{
    slw::float_option("adam_beta1", "0.9", "Decay of the gradients' running mean, per step; below 1.")
        .min("0")
        .max("1"),
    slw::float_option("adam_beta2", "0.999", "Decay of the squared gradients' running mean, per step; below 1.")
        .min("0")
        .max("1"),
    slw::float_option("adam_eps", "1e-8", "Added to the root of the squared gradients' mean.").min("0"),
    slw::bool_option("decoupled_weight_decay", "true",
                     "True: AdamW, weights shrink by lr x weight_decay. False: Adam, weight_decay x weight is added to "
                     "the gradient.")
        .aliases(kCoupledFlag),
};

double decay_rate(const slw::Config& config, const char* name) {
  const double beta = config.number(name);
  if (beta >= 0.0 && beta < 1.0) return beta;
  throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("adam: option '", name, "' is ", beta, ", allowed: 0 <= value < 1"));
}

double grad_scale(const slw_opt_step_args& args) {
  if (args.grad_scale_device == nullptr) return args.grad_scale;
  const slw_tensor& scale = *args.grad_scale_device;
  if (scale.device.type != SLW_DEVICE_CPU) {
    throw slw::Error(SLW_UNSUPPORTED, "adam: grad_scale_device is not in CPU memory; this plugin works on the CPU");
  }
  return *slw::data<double>(scale);
}

class Adam {
 public:
  Adam(slw::Host host, const slw::Config& config, const slw_run_info& run)
      : host_(host),
        hyper_{decay_rate(config, "adam_beta1"), decay_rate(config, "adam_beta2"), config.number("adam_eps"),
               config.boolean("decoupled_weight_decay")} {
    if (!(hyper_.eps >= 0.0)) {
      throw slw::Error(SLW_INVALID_ARGUMENT,
                       slw::cat("adam: option 'adam_eps' is ", hyper_.eps, ", allowed: 0 or more"));
    }
    if (run.device.type == SLW_DEVICE_CUDA) {
      throw slw::Error(SLW_UNSUPPORTED, "adam: updates CPU memory only; run with the CPU device or another optimizer");
    }
  }

  void declare(const slw_param_decl&, slw::StateSink& sink) const {
    sink.layouts(SLW_LAYOUT_FLAT | SLW_LAYOUT_PARAM);
    sink.slot("exp_avg", slw::f32);
    sink.slot("exp_avg_sq", slw::f32);
  }

  void step(const slw_opt_step_args& args) const {
    const double scale = grad_scale(args);
    adam::WorkList work;
    for (const slw_shard& shard : slw::items(args.num_shards, args.shards)) {
      const adam::Update update{shard.lr, shard.weight_decay, shard.step, scale};
      work.add(adam::ShardWork(shard, adam::coefficients(hyper_, update)));
    }
    host_.parallel_for(work.size(), kGrain, [&work](std::int64_t begin, std::int64_t end) { work.apply(begin, end); });
  }

 private:
  slw::Host host_;
  adam::Hyper hyper_;
};

constexpr slw_component kAdam =
    slw::optimizer<Adam>({"adam", "AdamW, or Adam with L2 regularisation, in one pass over memory.", 1}, kOptions);
constexpr slw::About kAbout{"org.slipway.adam", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kAdam);
