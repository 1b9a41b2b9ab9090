// The exported symbol.
#include "plugins/gpt/model.h"
#include "plugins/gpt/option_table.h"

namespace {

constexpr slw_component kGpt = slw::model<slipway::gpt::GptModel>(
    {"gpt", "Decoder-only transformer with Megatron-core's options, parameter names and numbers.", 1},
    slipway::gpt::kGptOptions);
constexpr slw::About kAbout{"org.slipway.gpt", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kGpt);
SLW_REQUIRES_LIBTORCH(SLIPWAY_TORCH_BUILD);
