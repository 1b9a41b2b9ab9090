// Ranks as threads: each runs `body` with an environment of its own and meets the others over loopback. What a rank
// throws is thrown again here, the lowest rank's first and lost connections last; a rank that fails leaves its groups,
// which frees the others.
#pragma once

#include <functional>

#include "core/comm/environment.h"

namespace slipway {

void run_ranks(int world_size, const std::function<void(const RankEnvironment&)>& body);

// A port of the loopback interface that nobody listens on.
int free_port();

}  // namespace slipway
