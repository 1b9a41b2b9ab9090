// What one microbatch costs on a stage of the gpt model.
#pragma once

#include <slipway/sdk.hpp>

#include "plugins/gpt/config.h"

namespace slipway::gpt {

// FLOPs: a multiply-add counts 2, attention counts its causal half, backward is twice forward, norms and activations do
// not count; the head counts the padded vocabulary.
slw_cost cost_of(const GptConfig& config, const slw_io_args& args);

}  // namespace slipway::gpt
