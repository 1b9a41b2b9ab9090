#include "core/config/manifest_file.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"

namespace slipway {
namespace {

using nlohmann::json;

void check_sections(const ManifestFile& file, const json& document, const std::vector<SectionSpec>& sections) {
  std::vector<std::string> names = {"plugins", "slipway_version"};
  for (const SectionSpec& section : sections) {
    if (!section.command_line_only && section.name.find('.') == std::string::npos) names.push_back(section.name);
  }
  for (const auto& [key, value] : document.items()) {
    if (std::find(names.begin(), names.end(), key) == names.end()) {
      throw ConfigError(file.source + ": unknown section " + in_quotes(key) + suggestion(key, names));
    }
  }
}

std::string text_member(const json& object, const std::string& key, const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (!found->is_string()) throw ConfigError(where + "." + key + " is " + describe_json(*found) + "; wanted a string");
  return found->get<std::string>();
}

void check_sha256(const std::string& digest, const std::string& where) {
  const bool is_hex = digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (digest.empty() || (digest.size() == 64 && is_hex)) return;
  throw ConfigError(where + ".sha256 is " + in_quotes(digest) + "; wanted 64 lower-case hexadecimal digits");
}

PluginEntry plugin_entry(const json& item, const std::string& where, const std::string& folder) {
  if (item.is_string() && !item.get<std::string>().empty()) return {plugin_file(item.get<std::string>(), folder)};
  if (!item.is_object()) {
    throw ConfigError(where + " is " + describe_json(item) + "; wanted a path or {\"path\": ..., \"sha256\": ...}");
  }
  const std::vector<std::string> keys = {"path", "sha256", "version"};
  for (const auto& [key, value] : item.items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      throw ConfigError(where + ": unknown key " + in_quotes(key) + suggestion(key, keys));
    }
  }
  const std::string path = text_member(item, "path", where);
  if (path.empty()) throw ConfigError(where + " has no \"path\"");
  PluginEntry entry{plugin_file(path, folder), text_member(item, "sha256", where), text_member(item, "version", where)};
  check_sha256(entry.sha256, where);
  return entry;
}

void take_plugins(const json& list, ManifestFile& file) {
  if (!list.is_array()) {
    throw ConfigError(file.source + ": plugins is " + describe_json(list) + "; wanted a list of paths");
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = file.source + ": plugins[" + std::to_string(i) + "]";
    file.plugins.push_back(plugin_entry(list[i], where, file.folder));
  }
}

// "model": "gpt" is short for "model": {"use": "gpt"}; null stands for an optional section that is not used.
json section_object(const json& value, const SectionSpec& section, const std::string& source) {
  if (value.is_string() && section.provider != ProviderUse::kNone) return {{"use", value}};
  if (value.is_null() && section.provider == ProviderUse::kOptional) return json::object();
  if (value.is_object()) return value;
  throw ConfigError(source + ": section " + in_quotes(section.name) + " is " + describe_json(value) +
                    "; wanted an object: {\"key\": value, ...}");
}

void take_use(const SectionSpec& section, json& object, ManifestFile& file) {
  if (section.provider == ProviderUse::kNone || !object.contains("use")) return;
  const std::string use = text_member(object, "use", file.source + ": " + section.name);
  if (use.empty()) throw ConfigError(file.source + ": " + section.name + ".use is empty; name a provider");
  file.use[section.name] = use;
  object.erase("use");
}

void take_section(const SectionSpec& section, json& document, ManifestFile& file) {
  const std::size_t dot = section.name.rfind('.');
  json& parent = dot == std::string::npos ? document : file.given[section.name.substr(0, dot)];
  const std::string key = dot == std::string::npos ? section.name : section.name.substr(dot + 1);
  json object = json::object();
  if (parent.contains(key)) {
    object = section_object(parent[key], section, file.source);
    parent.erase(key);
  }
  take_use(section, object, file);
  file.given[section.name] = std::move(object);
}

}  // namespace

std::string plugin_file(const std::string& text, const std::string& folder) {
  const bool is_path = text.find('/') != std::string::npos || text.find(".so") != std::string::npos;
  return is_path ? absolute_path(text, folder) : text;
}

ManifestFile read_manifest_file(const std::string& path, const std::string& current_folder,
                                const std::vector<SectionSpec>& sections) {
  ManifestFile file;
  file.source = path;
  const std::string full = absolute_path(path, current_folder);
  file.folder = std::filesystem::path(full).parent_path().string();
  json document = parse_json(read_file(full, ExitCode::kUsage), path);
  if (!document.is_object()) {
    throw ConfigError(path + ": a manifest is an object of sections, found " + describe_json(document));
  }
  check_sections(file, document, sections);
  file.slipway_version = text_member(document, "slipway_version", path + ": manifest");
  if (document.contains("plugins")) take_plugins(document["plugins"], file);
  for (const SectionSpec& section : sections) {
    if (!section.command_line_only) take_section(section, document, file);
  }
  return file;
}

}  // namespace slipway
