// Reading JSON that may be damaged or hostile: a repeated key and deep nesting are errors, as is every value of another
// type or range than asked for. All errors are CheckpointErrors that begin with `where`. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// The document, which must be an object.
nlohmann::json parse_json_object(std::string_view text, const std::string& where);

// The named member of an object.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key, const std::string& where);

std::string json_string(const nlohmann::json& value, const std::string& where);

// A whole number of 0 to 2^63 - 1.
std::int64_t json_count(const nlohmann::json& value, const std::string& where);
std::vector<std::int64_t> json_counts(const nlohmann::json& value, const std::string& where);

// The document on one line; a string that is not UTF-8 is an error.
std::string json_dump(const nlohmann::ordered_json& document, const std::string& where);

}  // namespace slipway
