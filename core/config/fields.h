// The `fields` declaration of a config struct and what is made of it. A struct declares each option on one line:
//
//   struct TrainConfig {
//     std::int64_t micro_batch_size = 1;
//     template <class Self, class Visitor>
//     static void fields(Self& self, Visitor&& visit) {
//       visit("micro_batch_size", self.micro_batch_size, "Samples per forward.", {.min = 1});
//     }
//   };
//
// Types: bool, int64_t, double, std::string, std::vector of string or int64_t, nlohmann::json, std::optional of these.
// The default is the member initialiser. No state; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/config/option.h"

namespace slipway {

// What a field's value must obey beside its type, and how else it is spelled; see OptionSpec.
struct FieldRule {
  nlohmann::json min = nullptr;
  nlohmann::json max = nullptr;
  std::vector<std::string> choices = {};
  std::vector<std::string> aliases = {};
  bool is_path = false;
};

namespace fields_detail {

template <class T>
struct OptionTypeOf;
template <>
struct OptionTypeOf<bool> : std::integral_constant<OptionType, OptionType::kBool> {};
template <>
struct OptionTypeOf<std::int64_t> : std::integral_constant<OptionType, OptionType::kInt> {};
template <>
struct OptionTypeOf<double> : std::integral_constant<OptionType, OptionType::kFloat> {};
template <>
struct OptionTypeOf<std::string> : std::integral_constant<OptionType, OptionType::kString> {};
template <>
struct OptionTypeOf<nlohmann::json> : std::integral_constant<OptionType, OptionType::kJson> {};
template <>
struct OptionTypeOf<std::vector<std::string>> : std::integral_constant<OptionType, OptionType::kStringList> {};
template <>
struct OptionTypeOf<std::vector<std::int64_t>> : std::integral_constant<OptionType, OptionType::kIntList> {};

template <class T>
struct Nullable : std::false_type {
  using Value = T;
};
template <class T>
struct Nullable<std::optional<T>> : std::true_type {
  using Value = T;
};

template <class T>
nlohmann::json json_of(const T& value) {
  if constexpr (Nullable<T>::value) {
    return value ? json_of(*value) : nlohmann::json(nullptr);
  } else {
    return value;
  }
}

template <class T>
void read_value(const nlohmann::json& value, T& out) {
  if constexpr (Nullable<T>::value) {
    out.reset();
    if (!value.is_null()) out = value.get<typename Nullable<T>::Value>();
  } else {
    out = value.get<T>();
  }
}

inline std::string limit_text(const nlohmann::json& limit) { return limit.is_null() ? "" : limit.dump(); }

// Collects one row per field.
struct RowVisitor {
  std::vector<OptionSpec> rows;

  template <class T>
  void operator()(const char* name, const T& value, const char* help, const FieldRule& rule = {}) {
    OptionSpec row;
    row.name = name;
    row.type = OptionTypeOf<typename Nullable<T>::Value>::value;
    row.default_json = json_of(value).dump();
    row.min_json = limit_text(rule.min);
    row.max_json = limit_text(rule.max);
    row.choices = rule.choices;
    row.aliases = rule.aliases;
    row.help = help;
    row.is_path = rule.is_path;
    row.nullable = Nullable<T>::value;
    rows.push_back(std::move(row));
  }
};

struct WriteVisitor {
  nlohmann::json object = nlohmann::json::object();

  template <class T>
  void operator()(const char* name, const T& value, const char*, const FieldRule& = {}) {
    object[name] = json_of(value);
  }
};

struct ReadVisitor {
  const nlohmann::json& object;

  template <class T>
  void operator()(const char* name, T& value, const char*, const FieldRule& = {}) {
    const auto found = object.find(name);
    SLW_CHECK(found != object.end());
    read_value(*found, value);
  }
};

}  // namespace fields_detail

// The rows of a config struct, in declaration order.
template <class Config>
std::vector<OptionSpec> option_rows() {
  fields_detail::RowVisitor visitor;
  const Config defaults{};
  Config::fields(defaults, visitor);
  return std::move(visitor.rows);
}

// Every option with its value.
template <class Config>
nlohmann::json write_config(const Config& config) {
  fields_detail::WriteVisitor visitor;
  Config::fields(config, visitor);
  return std::move(visitor.object);
}

// REQUIRES: `complete` holds every option with a checked value, as complete_options and ResolvedManifest give it.
template <class Config>
Config read_config(const nlohmann::json& complete) {
  Config config{};
  Config::fields(config, fields_detail::ReadVisitor{complete});
  return config;
}

}  // namespace slipway
