// The nonlinearity between the two linear layers of an MLP.
#pragma once

#include <ATen/ATen.h>

#include "plugins/transformer/config.h"

namespace slipway::transformer {

// x [..., width] -> [..., width], or, gated, [gate | up] -> act(gate) * up of half the width.
at::Tensor activate(const at::Tensor& x, Activation activation, bool gated);

}  // namespace slipway::transformer
