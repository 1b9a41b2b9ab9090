// One option as data: what a `fields` line of a core struct and a row of a plugin's option table both become. All
// checking of values, help and flags works on these rows alone. Values; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace slipway {

// The first five are those of the plugin border, with the same numbers; the lists are for core structs.
enum class OptionType { kBool = 0, kInt = 1, kFloat = 2, kString = 3, kJson = 4, kStringList = 5, kIntList = 6 };

struct OptionSpec {
  std::string name;  // snake_case, as in the manifest
  OptionType type = OptionType::kString;
  std::string default_json;  // "": there is none, a value must be given
  std::string min_json;      // "": no limit; inclusive; of each element for lists
  std::string max_json;
  std::vector<std::string> choices;  // empty: any; what the value, or each element, may be
  // Flags beside --name: "other" takes a value like --name; "other=value" is a flag without value that sets this option
  // to `value`. The same "other=value" spelling in several rows sets all of them.
  std::vector<std::string> aliases;
  std::string help;
  bool is_path = false;   // relative text is made absolute; in objects the members "path" and "paths"
  bool nullable = false;  // null is a value, also when the default is not null
};

struct OptionAlias {
  std::string name;  // '_' for '-'
  bool sets_value = false;
  std::string value;
};

// "disable-bias-linear=false" -> {"disable_bias_linear", true, "false"}
OptionAlias parse_alias(std::string_view text);

bool accepts_null(const OptionSpec& option);

// "a number, 0 to 1" / `one of "a", "b"` / "an integer or null"
std::string type_text(const OptionSpec& option);

// The value as it goes into the resolved manifest (an integer given for a float becomes a float). Throws ConfigError
// that begins with `where` ("run.json: train.lr") when type, range or choice do not fit.
nlohmann::json checked_value(const OptionSpec& option, const nlohmann::json& value, const std::string& where);

// The same from the text of a command-line value; `where` is "command line: --lr". Lists are comma separated or JSON;
// "null" is null where null is allowed. A kJson option takes one word as a list of one, unless it has a default that is
// no list.
nlohmann::json value_of_text(const OptionSpec& option, const std::string& text, const std::string& where);

// Checks a table that a plugin brought: names, defaults within limits, aliases. Throws PluginError that begins with
// `owner` (the provider and its file).
void check_option_table(const std::vector<OptionSpec>& options, const std::string& owner);

}  // namespace slipway
