// Told how many bytes were written since the last call, for a progress bar.
#pragma once

#include <cstdint>
#include <functional>

namespace slipway {

using OnBytes = std::function<void(std::uint64_t bytes)>;

}  // namespace slipway
