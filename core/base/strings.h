// Small text tools: what error messages, help and reports are put together with. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// Empty fields are kept: "a,,b" has three. An empty text has one empty field.
std::vector<std::string> split(std::string_view text, char separator);

// Without leading and trailing blanks, tabs and line ends.
std::string trim(std::string_view text);

std::string replace_char(std::string_view text, char from, char to);

// The text in double quotes, control characters and quotes escaped: safe to print whatever it holds.
std::string in_quotes(std::string_view text);

// Number of inserted, removed, replaced or swapped neighbouring characters; case and '-' against '_' count nothing.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate most like `name`, or "" when none is close enough to be a slip of the finger.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// The end of a "no such name" message: `; did you mean "x"?`, else `; allowed: a, b, c` (at most 40 names).
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

std::string human_bytes(std::uint64_t bytes);  // "374.7 KiB"
std::string human_count(std::uint64_t count);  // "1.23 M"
std::string human_duration(double seconds);    // "2 m 03 s"

}  // namespace slipway
