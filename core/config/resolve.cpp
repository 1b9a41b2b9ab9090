#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/manifest.h"

namespace slipway {
namespace {

using nlohmann::json;

bool has_option(const std::vector<OptionSpec>& options, const std::string& name) {
  return std::any_of(options.begin(), options.end(), [&](const OptionSpec& option) { return option.name == name; });
}

const std::vector<OptionSpec>& table_of(const OptionTables& tables, const std::string& section) {
  static const std::vector<OptionSpec> kNone;
  const auto found = tables.find(section);
  return found == tables.end() ? kNone : found->second;
}

json only(const json& values, const std::vector<OptionSpec>& options) {
  json subset = json::object();
  for (const OptionSpec& option : options) subset[option.name] = values.at(option.name);
  return subset;
}

json plugin_list(const std::vector<PluginEntry>& plugins) {
  json list = json::array();
  for (const PluginEntry& plugin : plugins) {
    json entry = {{"path", plugin.file}};
    if (!plugin.sha256.empty()) entry["sha256"] = plugin.sha256;
    if (!plugin.version.empty()) entry["version"] = plugin.version;
    list.push_back(std::move(entry));
  }
  return list;
}

json::json_pointer pointer_of(const std::string& section) {
  return json::json_pointer("/" + replace_char(section, '.', '/'));
}

}  // namespace

// The core's own options must not shadow each other as flat flags, nor a provider's within one section.
void Manifest::check_tables(const OptionTables& tables) const {
  std::set<std::string> core_names;
  for (const SectionSpec& section : sections_) {
    for (const OptionSpec& option : section.options) SLW_CHECK(core_names.insert(option.name).second);
  }
  for (const ProviderChoice& choice : choices_) {
    SLW_CHECK(tables.count(choice.section) == 1);
    const std::string owner = "the options of " + in_quotes(choice.use) + " (" + choice.where + ")";
    const std::vector<OptionSpec>& table = tables.at(choice.section);
    check_option_table(table, owner);
    for (const SectionSpec& section : sections_) {
      const bool nested = section.name.rfind(choice.section + ".", 0) == 0;
      if (nested && has_option(table, section.name.substr(choice.section.size() + 1))) {
        throw PluginError(owner + ": option name " + in_quotes(section.name) + " is taken by a section of the core");
      }
      if (section.name != choice.section) continue;
      for (const OptionSpec& option : section.options) {
        if (!has_option(table, option.name)) continue;
        throw PluginError(owner + ": option " + in_quotes(option.name) + " is an option of the core in section " +
                          in_quotes(section.name) + "; the plugin has to rename it");
      }
    }
  }
}

std::vector<Assignment> Manifest::assign_flags(const OptionTables& tables) const {
  FlagTable flags;
  flags.add_known("manifest");
  flags.add_known("plugin");
  for (const SectionSpec& section : sections_) {
    flags.add_core(section.name, section.options, !section.command_line_only);
    if (section.provider != ProviderUse::kNone) flags.add_known(section.name);
    flags.add_provider(section.name, table_of(tables, section.name));
  }
  return flags.assign(flags_);
}

std::vector<OptionSpec> Manifest::all_options(const SectionSpec& section, const OptionTables& tables) const {
  std::vector<OptionSpec> options = section.options;
  const std::vector<OptionSpec>& table = table_of(tables, section.name);
  options.insert(options.end(), table.begin(), table.end());
  return options;
}

// An existing key in the wrong section: say where it belongs, which no nearest name would tell.
void Manifest::refuse_misplaced(const SectionSpec& section, const OptionTables& tables) const {
  const auto given = file_.given.find(section.name);
  if (given == file_.given.end()) return;
  for (const auto& [key, value] : given->second.items()) {
    if (has_option(all_options(section, tables), key)) continue;
    for (const SectionSpec& other : sections_) {
      if (!has_option(all_options(other, tables), key)) continue;
      const std::string home = other.command_line_only
                                   ? "it is given on the command line only: --" + replace_char(key, '_', '-')
                                   : "it belongs in section " + in_quotes(other.name);
      throw ConfigError(file_.source + ": unknown key " + in_quotes(key) + " in section " + in_quotes(section.name) +
                        "; " + home);
    }
  }
}

json Manifest::given_values(const SectionSpec& section, const OptionTables& tables,
                            const std::vector<Assignment>& flags) const {
  refuse_misplaced(section, tables);
  const std::vector<OptionSpec> options = all_options(section, tables);
  const auto in_file = file_.given.find(section.name);
  json values = json::object();
  if (in_file != file_.given.end()) {
    values = checked_options(options, in_file->second, {file_.source, section.name}, file_.folder);
  }
  for (const Assignment& flag : flags) {
    if (flag.section != section.name) continue;
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const OptionSpec& o) { return o.name == flag.option; });
    values[flag.option] = option->is_path ? absolute_paths(flag.value, current_folder_) : flag.value;
  }
  return values;
}

void Manifest::complete_section(const SectionSpec& section, const OptionTables& tables, json given,
                                ResolvedManifest& result) const {
  json values = complete_options(all_options(section, tables), std::move(given), {file_.source, section.name});
  result.core_[section.name] = only(values, section.options);
  const auto choice = std::find_if(choices_.begin(), choices_.end(),
                                   [&](const ProviderChoice& c) { return c.section == section.name; });
  const bool is_chosen = choice != choices_.end();
  if (is_chosen) {
    result.providers_[section.name] = only(values, tables.at(section.name));
    values["use"] = choice->use;
  }
  if (section.command_line_only) return;
  const bool is_unused = section.provider == ProviderUse::kOptional && !is_chosen;
  result.json_[pointer_of(section.name)] = is_unused ? json(nullptr) : std::move(values);
}

ResolvedManifest Manifest::resolve(const OptionTables& tables) const {
  check_tables(tables);
  const std::vector<Assignment> flags = assign_flags(tables);
  ResolvedManifest result;
  result.json_["plugins"] = plugin_list(plugins_);
  std::vector<json> given;
  for (const SectionSpec& section : sections_) given.push_back(given_values(section, tables, flags));
  for (std::size_t i = 0; i < sections_.size(); ++i)
    complete_section(sections_[i], tables, std::move(given[i]), result);
  return result;
}

}  // namespace slipway
