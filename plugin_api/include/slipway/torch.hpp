// The LibTorch side of the plugin border, for models written with ATen and its autograd: header-only C++17 on top of
// sdk.hpp. A model
//
//   class Tiny : public slw::TorchModel {                       // torch/model.hpp: all that a model has to write
//    public:
//     Tiny(slw::Host host, const slw::Config& config, const slw_run_info& run);
//     slw_model_info describe() override;
//     void declare(const slw_stage&, slw::ParamSink&) override;
//     void io_spec(const slw_io_args&, slw::IoSink&) override;
//     std::unique_ptr<slw::TorchStage> make_stage(const slw_stage&, const slw::TorchParams&) override;
//   };
//   constexpr slw_component kTiny = slw::model<Tiny>({"tiny", "A small model."}, kOptions);
//   constexpr slw::About kAbout{"org.example.tiny", "0.1.0", "Example"};
//   SLW_PLUGIN(kAbout, &kTiny);
//   SLW_REQUIRES_LIBTORCH(SLIPWAY_TORCH_BUILD);
//
// and a stage is a function from tensors to tensors. The layer does the rest: parameters are autograd leaves over the
// core's memory, gradients are added into the core's buffers, grad_ready is reported, graphs are kept per slot, what
// LibTorch throws becomes a status.
//
// The headers below include no <torch/torch.h>: ATen and the few autograd headers they need.
#pragma once

#include <slipway/sdk.hpp>
#include <slipway/torch/dropout.hpp>
#include <slipway/torch/group.hpp>
#include <slipway/torch/guard.hpp>
#include <slipway/torch/linear.hpp>
#include <slipway/torch/model.hpp>
#include <slipway/torch/params.hpp>
#include <slipway/torch/product.hpp>
#include <slipway/torch/saved_pass.hpp>
#include <slipway/torch/tensor.hpp>
