#include "core/config/section.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"

namespace slipway {
namespace {

using nlohmann::json;

const OptionSpec* find_option(const std::vector<OptionSpec>& options, const std::string& name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const OptionSpec& o) { return o.name == name; });
  return found == options.end() ? nullptr : &*found;
}

// A command-line spelling used as a key: say what to write in its place.
std::string alias_hint(const std::vector<OptionSpec>& options, const std::string& key) {
  std::vector<std::string> members;
  for (const OptionSpec& option : options) {
    for (const std::string& text : option.aliases) {
      const OptionAlias alias = parse_alias(text);
      if (alias.name != replace_char(key, '-', '_')) continue;
      const std::string value = alias.sets_value ? value_of_text(option, alias.value, "alias").dump() : "...";
      members.push_back(in_quotes(option.name) + ": " + value);
    }
  }
  return members.empty() ? "" : "; it is a flag of the command line, here write " + join(members, ", ");
}

[[noreturn]] void refuse_key(const std::vector<OptionSpec>& options, const std::string& key,
                             const SectionPlace& place) {
  std::vector<std::string> names;
  for (const OptionSpec& option : options) names.push_back(option.name);
  std::string hint = alias_hint(options, key);
  if (hint.empty()) hint = suggestion(key, names);
  throw ConfigError(place.source + ": unknown key " + in_quotes(key) + " in section " + in_quotes(place.section) +
                    hint);
}

}  // namespace

std::string absolute_path(const std::string& path, const std::string& folder) {
  if (path.empty() || folder.empty()) return path;
  return (std::filesystem::path(folder) / path).lexically_normal().string();
}

json absolute_paths(json value, const std::string& folder) {
  if (value.is_string()) return absolute_path(value.get<std::string>(), folder);
  if (value.is_array()) {
    for (json& item : value) item = absolute_paths(std::move(item), folder);
  }
  if (value.is_object()) {
    for (const char* member : {"path", "paths"}) {
      if (value.contains(member)) value[member] = absolute_paths(value[member], folder);
    }
  }
  return value;
}

json checked_options(const std::vector<OptionSpec>& options, const json& given, const SectionPlace& place,
                     const std::string& folder) {
  if (!given.is_object()) {
    throw ConfigError(place.source + ": section " + in_quotes(place.section) + " is " + describe_json(given) +
                      "; wanted an object: {\"key\": value, ...}");
  }
  json checked = json::object();
  for (const auto& [key, value] : given.items()) {
    const OptionSpec* option = find_option(options, key);
    if (!option) refuse_key(options, key, place);
    json accepted = checked_value(*option, value, place.of_key(key));
    checked[key] = option->is_path ? absolute_paths(std::move(accepted), folder) : std::move(accepted);
  }
  return checked;
}

json complete_options(const std::vector<OptionSpec>& options, json checked, const SectionPlace& place) {
  for (const OptionSpec& option : options) {
    if (checked.contains(option.name)) continue;
    const std::string where = place.of_key(option.name);
    if (option.default_json.empty()) {
      throw ConfigError(where + " has no default and is not given; allowed: " + type_text(option) +
                        "; set it in the manifest or with --" + place.section + "." +
                        replace_char(option.name, '_', '-'));
    }
    checked[option.name] = checked_value(option, json::parse(option.default_json), where);
  }
  return checked;
}

}  // namespace slipway
