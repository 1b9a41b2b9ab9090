#include "core/config/manifest.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {

Manifest Manifest::parse(std::vector<SectionSpec> sections, const std::vector<std::string>& arguments,
                         const std::string& current_folder) {
  Manifest manifest;
  manifest.sections_ = std::move(sections);
  manifest.current_folder_ = current_folder;
  manifest.take_flags(arguments);
  if (!manifest.manifest_path_.empty()) {
    manifest.file_ = read_manifest_file(manifest.manifest_path_, current_folder, manifest.sections_);
  }
  manifest.merge_plugins();
  manifest.list_choices();
  return manifest;
}

void Manifest::take_flags(const std::vector<std::string>& arguments) {
  for (FlagArgument& flag : split_flags(arguments)) {
    if (!take_early_flag(flag)) flags_.push_back(std::move(flag));
  }
}

bool Manifest::take_early_flag(const FlagArgument& flag) {
  if (flag.name == "manifest") {
    if (!manifest_path_.empty()) throw ConfigError("command line: --manifest is given twice; a run has one manifest");
    manifest_path_ = single_value(flag);
    if (manifest_path_.empty()) throw ConfigError("command line: --manifest is empty; name a file");
    return true;
  }
  if (flag.name == "plugin") {
    const std::string file = single_value(flag);
    if (file.empty()) throw ConfigError("command line: --plugin is empty; name a file");
    extra_plugins_.push_back({plugin_file(file, current_folder_)});
    return true;
  }
  for (const SectionSpec& section : sections_) {
    const bool chooses = flag.name == section.name || flag.name == section.name + ".use";
    if (section.provider == ProviderUse::kNone || !chooses) continue;
    choose_provider(section.name, flag);
    return true;
  }
  return false;
}

void Manifest::choose_provider(const std::string& section, const FlagArgument& flag) {
  const std::string use = single_value(flag);
  if (use.empty()) throw ConfigError("command line: " + flag.spelled + " is empty; name a provider");
  const auto [earlier, is_first] =
      flag_choices_.emplace(section, ProviderChoice{section, use, "command line: " + flag.spelled});
  if (is_first || earlier->second.use == use) return;
  throw ConfigError("command line: " + flag.spelled + " is given twice, with " + in_quotes(earlier->second.use) +
                    " and " + in_quotes(use) + "; give one of them");
}

void Manifest::merge_plugins() {
  for (const std::vector<PluginEntry>* list : {&file_.plugins, &extra_plugins_}) {
    for (const PluginEntry& entry : *list) {
      const auto same =
          std::find_if(plugins_.begin(), plugins_.end(), [&](const PluginEntry& e) { return e.file == entry.file; });
      if (same == plugins_.end()) plugins_.push_back(entry);
    }
  }
}

void Manifest::list_choices() {
  for (const SectionSpec& section : sections_) {
    if (section.provider == ProviderUse::kNone) continue;
    const auto by_flag = flag_choices_.find(section.name);
    const auto by_file = file_.use.find(section.name);
    if (by_flag != flag_choices_.end()) {
      choices_.push_back(by_flag->second);
    } else if (by_file != file_.use.end()) {
      choices_.push_back({section.name, by_file->second, file_.source + ": " + section.name + ".use"});
    } else if (section.provider == ProviderUse::kRequired) {
      throw ConfigError(file_.source + ": section " + in_quotes(section.name) +
                        " names no provider; write \"use\": \"<name>\" in it or give --" +
                        replace_char(section.name, '_', '-') + " <name>");
    }
  }
}

}  // namespace slipway
