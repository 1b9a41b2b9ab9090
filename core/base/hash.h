// Content hashes: SHA-256 where a value is pinned or shown (plugins), XXH3-64 where speed counts (checksums, cache
// keys). Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace slipway {

// 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
// Reads the file in blocks; a failure is an Error with the exit code `blame`.
std::string sha256_hex_of_file(const std::string& path, ExitCode blame);

std::uint64_t xxh3_64(const void* data, std::size_t bytes);
std::uint64_t xxh3_64_of_file(const std::string& path, ExitCode blame);

// 16 lower-case hexadecimal digits.
std::string hex64(std::uint64_t value);

}  // namespace slipway
