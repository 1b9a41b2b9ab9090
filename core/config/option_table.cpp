#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"
#include "core/config/option.h"

namespace slipway {
namespace {

using nlohmann::json;

bool is_name(const std::string& text) {
  const bool starts_with_letter = !text.empty() && text[0] >= 'a' && text[0] <= 'z';
  return starts_with_letter && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

void check_number(const std::string& text, const std::string& where) {
  if (!text.empty() && !parse_json(text, where).is_number()) throw ConfigError(where + " is not a number");
}

void check_row(const OptionSpec& option) {
  if (!is_name(option.name) || option.name == "use") {
    throw ConfigError("the name must be snake_case, begin with a letter and not be \"use\"");
  }
  const int type = static_cast<int>(option.type);
  if (type < 0 || type > static_cast<int>(OptionType::kIntList)) {
    throw ConfigError("unknown type " + std::to_string(type));
  }
  check_number(option.min_json, "its min");
  check_number(option.max_json, "its max");
  if (!option.default_json.empty()) {
    checked_value(option, parse_json(option.default_json, "its default"), "its default");
  }
}

// Spelling -> what stands behind it: one option that takes a value, or options that are set to fixed values.
struct Spellings {
  std::set<std::string> taking_value;
  std::set<std::string> fixed;

  void add(const std::string& name, bool sets_value) {
    const bool clashes = taking_value.contains(name) || (!sets_value && fixed.contains(name));
    if (clashes) throw ConfigError("the spelling " + in_quotes(name) + " stands for two things");
    (sets_value ? fixed : taking_value).insert(name);
  }
};

void check_aliases(const OptionSpec& option, Spellings& spellings) {
  for (const std::string& text : option.aliases) {
    const OptionAlias alias = parse_alias(text);
    if (!is_name(alias.name)) throw ConfigError("the alias " + in_quotes(text) + " is not a flag name");
    if (alias.sets_value) value_of_text(option, alias.value, "the alias " + in_quotes(text));
    spellings.add(alias.name, alias.sets_value);
  }
}

}  // namespace

void check_option_table(const std::vector<OptionSpec>& options, const std::string& owner) {
  Spellings spellings;
  for (const OptionSpec& option : options) {
    try {
      check_row(option);
      spellings.add(option.name, false);
    } catch (const ConfigError& error) {
      throw PluginError(owner + ": option " + in_quotes(option.name) + ": " + error.what());
    }
  }
  for (const OptionSpec& option : options) {
    try {
      check_aliases(option, spellings);
    } catch (const ConfigError& error) {
      throw PluginError(owner + ": option " + in_quotes(option.name) + ": " + error.what());
    }
  }
}

}  // namespace slipway
