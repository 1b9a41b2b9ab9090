// The options of an instance as the host gives them to `create`: validated and complete. Immutable; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <slipway/sdk/error.hpp>
#include <vector>

SLW_SDK_BEGIN

// Getters throw slw::Error when the option is not there (or null) or of another type, naming it.
class Config {
 public:
  explicit Config(const char* json_text) : values_(parse(json_text)) {}

  // Is it there, and not null?
  bool has(const char* name) const {
    const auto at = values_.find(name);
    return at != values_.end() && !at->is_null();
  }
  bool boolean(const char* name) const { return as<bool>(name, "true or false"); }
  int64_t integer(const char* name) const { return as<int64_t>(name, "an integer"); }
  double number(const char* name) const { return as<double>(name, "a number"); }
  std::string string(const char* name) const { return as<std::string>(name, "a string"); }
  std::vector<std::string> strings(const char* name) const {
    return as<std::vector<std::string>>(name, "a list of strings");
  }
  std::vector<int64_t> integers(const char* name) const { return as<std::vector<int64_t>>(name, "a list of integers"); }
  // The same, for options that may be null.
  std::optional<int64_t> optional_integer(const char* name) const {
    return has(name) ? std::optional<int64_t>(integer(name)) : std::nullopt;
  }
  std::optional<double> optional_number(const char* name) const {
    return has(name) ? std::optional<double>(number(name)) : std::nullopt;
  }
  std::optional<std::string> optional_string(const char* name) const {
    return has(name) ? std::optional<std::string>(string(name)) : std::nullopt;
  }
  // Any value, or the whole object.
  const nlohmann::json& json(const char* name) const {
    const auto at = values_.find(name);
    if (at == values_.end()) throw Error(SLW_INVALID_ARGUMENT, cat("option '", name, "' is missing"));
    return *at;
  }
  const nlohmann::json& json() const { return values_; }

 private:
  static nlohmann::json parse(const char* text) {
    nlohmann::json values = nlohmann::json::parse(text == nullptr ? "{}" : text, nullptr, false);
    if (values.is_object()) return values;
    throw Error(SLW_INVALID_ARGUMENT, "the options are not a JSON object");
  }

  template <class T>
  static bool is(const nlohmann::json& value) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_same_v<T, int64_t>) return value.is_number_integer();
    if constexpr (std::is_same_v<T, double>) return value.is_number();
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    return false;
  }
  template <class T>
  static bool is_list(const nlohmann::json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const auto& v) { return is<T>(v); });
  }

  template <class T>
  T as(const char* name, const char* wanted) const {
    const nlohmann::json& value = json(name);
    bool fits;
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      fits = is_list<std::string>(value);
    else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
      fits = is_list<int64_t>(value);
    else
      fits = is<T>(value);
    if (fits) return value.get<T>();
    throw Error(SLW_INVALID_ARGUMENT, cat("option '", name, "' is ", value.dump(), ", wanted ", wanted));
  }

  nlohmann::json values_;
};

SLW_SDK_END
