// The names inside a checkpoint root. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

inline constexpr const char* kLatestFile = "latest";
inline constexpr const char* kTemporaryPrefix = ".tmp_step_";

// "step_00000100"
std::string step_name(std::int64_t step);

// The step of such a name; nullopt for any other.
std::optional<std::int64_t> step_of_name(std::string_view name);

}  // namespace slipway
