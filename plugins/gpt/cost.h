// What one microbatch costs on one rank of a stage of the gpt model.
#pragma once

#include <slipway/sdk.hpp>

#include "plugins/gpt/config.h"

namespace slipway::gpt {

// FLOPs: a multiply-add counts 2, attention counts its causal half, backward is twice forward, norms and activations do
// not count; the head counts the padded vocabulary. Communication over tp: a column-parallel product sums the gradient
// of its input, a row-parallel one its output; with sequence parallelism each sum is a reduce-scatter, and what the
// product reads is gathered (core/comm/README.md has the formulas).
slw_cost cost_of(const GptConfig& config, const slw_io_args& args, slw::CostSink& costs);

}  // namespace slipway::gpt
