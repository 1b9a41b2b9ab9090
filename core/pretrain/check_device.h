// Whether this build, on this machine, can compute where a run wants to.
#pragma once

#include "core/pretrain/config.h"

namespace slipway {

// Throws ConfigError, with the rule and the next move, when it cannot: nothing falls back to another device or backend.
void check_device(const Config& config);

}  // namespace slipway
