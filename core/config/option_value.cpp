#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"
#include "core/config/option.h"

namespace slipway {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(const OptionSpec& option, const std::string& found, const std::string& where) {
  std::string message = where + " is " + found + "; allowed: " + type_text(option);
  throw ConfigError(message);
}

bool is_int64(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max();
  return value.is_number_integer();
}

bool all_of_list(const json& value, bool (*holds)(const json&)) {
  return value.is_array() && std::all_of(value.begin(), value.end(), holds);
}

bool has_type(OptionType type, const json& value) {
  switch (type) {
    case OptionType::kBool:
      return value.is_boolean();
    case OptionType::kInt:
      return is_int64(value);
    case OptionType::kFloat:
      return value.is_number() && std::isfinite(value.get<double>());
    case OptionType::kString:
      return value.is_string();
    case OptionType::kJson:
      return true;
    case OptionType::kStringList:
      return all_of_list(value, [](const json& item) { return item.is_string(); });
    case OptionType::kIntList:
      return all_of_list(value, is_int64);
  }
  return false;
}

bool in_range(const OptionSpec& option, const json& value) {
  if (!value.is_number()) return true;
  if (!option.min_json.empty() && value < json::parse(option.min_json)) return false;
  return option.max_json.empty() || !(json::parse(option.max_json) < value);
}

bool is_choice(const OptionSpec& option, const json& value) {
  if (option.choices.empty()) return true;
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end();
}

void check_limits(const OptionSpec& option, const json& value, const std::string& where) {
  if (value.is_null() || value.is_object()) return;
  if (value.is_array()) {
    for (const json& item : value) check_limits(option, item, where);
    return;
  }
  if (in_range(option, value) && is_choice(option, value)) return;
  std::string found = describe_json(value);
  const std::string nearest = value.is_string() ? nearest_name(value.get<std::string>(), option.choices) : "";
  if (nearest.empty()) refuse(option, found, where);
  throw ConfigError(where + " is " + found + "; did you mean " + in_quotes(nearest) +
                    "? allowed: " + type_text(option));
}

template <class Number>
bool parse_number(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

json scalar_of_text(const OptionSpec& option, OptionType type, const std::string& text, const std::string& where) {
  if (type == OptionType::kString) return text;
  if (type == OptionType::kBool && (text == "true" || text == "false")) return text == "true";
  std::int64_t integer = 0;
  if (type == OptionType::kInt && parse_number(text, integer)) return integer;
  double number = 0.0;
  if (type == OptionType::kFloat && parse_number(text, number)) return number;
  refuse(option, in_quotes(text), where);
}

bool looks_like_json(const std::string& text) {
  const std::string trimmed = trim(text);
  return !trimmed.empty() && (trimmed[0] == '[' || trimmed[0] == '{' || trimmed[0] == '"');
}

// A comma-separated element of a raw option: a number, true or false where it reads as one.
json guessed_scalar(const OptionSpec& option, const std::string& text) {
  if (option.is_path) return text;
  const json parsed = json::parse(text, nullptr, false);
  return parsed.is_number() || parsed.is_boolean() ? parsed : json(text);
}

json raw_of_text(const OptionSpec& option, const std::string& text) {
  if (text.find(',') == std::string::npos) {
    json scalar = guessed_scalar(option, text);
    const bool wants_list = option.default_json.empty() || json::parse(option.default_json).is_array();
    if (!wants_list) return scalar;
    return text.empty() ? json::array() : json::array({scalar});
  }
  json list = json::array();
  for (const std::string& part : split(text, ',')) list.push_back(guessed_scalar(option, trim(part)));
  return list;
}

json list_of_text(const OptionSpec& option, const std::string& text, const std::string& where) {
  const OptionType element = option.type == OptionType::kIntList ? OptionType::kInt : OptionType::kString;
  json list = json::array();
  if (text.empty()) return list;
  for (const std::string& part : split(text, ',')) list.push_back(scalar_of_text(option, element, trim(part), where));
  return list;
}

}  // namespace

json checked_value(const OptionSpec& option, const json& value, const std::string& where) {
  if (value.is_null() && accepts_null(option)) return value;
  if (!has_type(option.type, value)) refuse(option, describe_json(value), where);
  check_limits(option, value, where);
  if (option.type == OptionType::kFloat) return value.get<double>();
  return value.is_number_unsigned() ? json(value.get<std::int64_t>()) : value;
}

json value_of_text(const OptionSpec& option, const std::string& text, const std::string& where) {
  const bool is_list = option.type == OptionType::kStringList || option.type == OptionType::kIntList;
  json value;
  if (text == "null" && accepts_null(option)) return value;
  if ((is_list || option.type == OptionType::kJson) && looks_like_json(text))
    value = parse_json(text, where);
  else if (option.type == OptionType::kJson)
    value = raw_of_text(option, text);
  else if (is_list)
    value = list_of_text(option, text, where);
  else
    value = scalar_of_text(option, option.type, text, where);
  return checked_value(option, value, where);
}

}  // namespace slipway
