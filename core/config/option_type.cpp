#include "core/base/strings.h"
#include "core/config/json_text.h"
#include "core/config/option.h"

namespace slipway {
namespace {

std::string base_text(OptionType type) {
  switch (type) {
    case OptionType::kBool:
      return "true or false";
    case OptionType::kInt:
      return "an integer";
    case OptionType::kFloat:
      return "a number";
    case OptionType::kString:
      return "a string";
    case OptionType::kJson:
      return "JSON";
    case OptionType::kStringList:
      return "a list of strings";
    case OptionType::kIntList:
      return "a list of integers";
  }
  return "a value";
}

std::string choices_text(const OptionSpec& option) {
  std::vector<std::string> names;
  for (const std::string& choice : option.choices)
    names.push_back(option.type == OptionType::kInt ? choice : in_quotes(choice));
  const bool is_list = option.type == OptionType::kStringList || option.type == OptionType::kIntList;
  return (is_list ? "a list of " : "one of ") + join(names, ", ");
}

std::string range_text(const OptionSpec& option) {
  const bool has_min = !option.min_json.empty();
  const bool has_max = !option.max_json.empty();
  if (has_min && has_max) return ", " + option.min_json + " to " + option.max_json;
  if (has_min) return ", " + option.min_json + " or more";
  return has_max ? ", at most " + option.max_json : "";
}

}  // namespace

OptionAlias parse_alias(std::string_view text) {
  const std::size_t equals = text.find('=');
  OptionAlias alias;
  alias.name = replace_char(text.substr(0, equals), '-', '_');
  alias.sets_value = equals != std::string_view::npos;
  if (alias.sets_value) alias.value = text.substr(equals + 1);
  return alias;
}

bool accepts_null(const OptionSpec& option) {
  return option.nullable || option.default_json == "null" || option.type == OptionType::kJson;
}

std::string type_text(const OptionSpec& option) {
  const std::string base = option.choices.empty() ? base_text(option.type) + range_text(option) : choices_text(option);
  return base + (accepts_null(option) && option.type != OptionType::kJson ? ", or null" : "");
}

}  // namespace slipway
