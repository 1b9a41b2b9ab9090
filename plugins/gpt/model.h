// The gpt model behind slw_model_vtable: a decoder-only transformer with Megatron-core's parameter names.
//
// Between pipeline stages goes one fp32 activation [batch, seq, hidden]; where several ranks share the layers, this
// rank's tokens, [tokens, hidden].
#pragma once

#include <slipway/torch.hpp>

#include "plugins/gpt/config.h"

namespace slipway::gpt {

class GptModel : public slw::TorchModel {
 public:
  GptModel(slw::Host host, const slw::Config& options, const slw_run_info& run);

  slw_model_info describe() override;
  void declare(const slw_stage& stage, slw::ParamSink& params) override;
  void io_spec(const slw_io_args& args, slw::IoSink& io) override;
  slw_cost cost(const slw_io_args& args, slw::CostSink& costs);
  std::unique_ptr<slw::TorchStage> make_stage(const slw_stage& stage, const slw::TorchParams& params) override;

 private:
  GptConfig config_;
  slw::Losses losses_;
};

}  // namespace slipway::gpt
