// The one check of pipeline schedules, generated or read from a file. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "core/parallel/schedule/schedule.h"

namespace slipway {

// Throws ConfigError naming rank, pass and rule unless
//   - every rank has each of its chunks' microbatches forward once, and backward once or, in a table without any
//     backward, never;
//   - a backward comes after its forward;
//   - all ranks come to their end, with a receive for every send, by the rules of transfers.h;
//   - no rank ever has more than `max_live` forwards whose backward is still to come.
void validate(const Schedule& schedule, std::optional<int32_t> max_live = std::nullopt);

}  // namespace slipway
