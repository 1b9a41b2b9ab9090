// Reading JSON that people write: comments allowed, a syntax error is told with line and column, and what JSON parsers
// usually let pass (a key given twice, nesting without end) is refused. Pure functions; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace slipway {

// `source` (a file name, "command line: --blend") begins each message. Throws ConfigError.
nlohmann::json parse_json(std::string_view text, const std::string& source);

// The value as an error message shows it: `"abc" (a string)`, `3.5 (a number)`; long ones are cut.
std::string describe_json(const nlohmann::json& value);

}  // namespace slipway
