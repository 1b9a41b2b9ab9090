#include "core/plugin_host/registry.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

#include "core/base/strings.h"

namespace slipway {

namespace fs = std::filesystem;

std::string kind_word(const std::string& kind) {
  const size_t dot = kind.find('.'), slash = kind.find('/');
  return dot == std::string::npos ? kind : kind.substr(dot + 1, slash - dot - 1);
}

CallSite Component::site(ExitCode blame) const {
  return {kind_word(component->kind) + " " + component->name, blame, library->file.path};
}

std::vector<std::string> plugin_search_folders(const std::vector<std::string>& extra) {
  std::vector<std::string> folders = extra;
  if (const char* variable = secure_getenv("SLIPWAY_PLUGIN_PATH")) {
    for (const std::string& folder : split(variable, ':')) {
      if (!folder.empty()) folders.push_back(folder);
    }
  }
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!ignored) folders.push_back((program.parent_path().parent_path() / "lib/slipway/plugins").string());
  return folders;
}

PluginRegistry::PluginRegistry(std::vector<std::string> folders, std::string libtorch_build, Reporter& reporter)
    : folders_(std::move(folders)), libtorch_build_(std::move(libtorch_build)), reporter_(reporter) {}

const LoadedLibrary& PluginRegistry::load(const std::string& path_or_name, const std::string& sha256) {
  const bool is_name = path_or_name.find('/') == std::string::npos && !path_or_name.ends_with(".so");
  const std::string by_name = is_name ? file_of_name(path_or_name) : "";
  const LibraryFile file = inspect_library(by_name.empty() ? path_or_name : by_name, libtorch_build_);
  if (!sha256.empty() && sha256 != file.sha256) {
    throw PluginError(file.path + " has sha256 " + file.sha256 + ", the manifest pins " + sha256 +
                      "; use the pinned file or change the pin");
  }
  const LoadedLibrary* library = &load_library(file, reporter_);
  if (std::find(loaded_.begin(), loaded_.end(), library) == loaded_.end()) loaded_.push_back(library);
  return *library;
}

std::string PluginRegistry::file_of_name(const std::string& name) const {
  for (const std::string& folder : folders_) {
    const fs::path file = fs::path(folder) / ("libslipway_" + name + ".so");
    std::error_code ignored;
    if (fs::exists(file, ignored)) return file.string();
  }
  return "";
}

const slw_component* PluginRegistry::find_loaded(const std::string& kind, const std::string& name,
                                                 const LoadedLibrary** library) const {
  for (const LoadedLibrary* candidate : loaded_) {
    for (uint32_t i = 0; i < candidate->plugin->num_components; ++i) {
      const slw_component* component = candidate->plugin->components[i];
      if (kind == component->kind && name == component->name) {
        *library = candidate;
        return component;
      }
    }
  }
  return nullptr;
}

Component PluginRegistry::find(const std::string& kind, const std::string& name) {
  Component found;
  found.component = find_loaded(kind, name, &found.library);
  if (found.component != nullptr) return found;
  const std::string file = file_of_name(name);
  if (file.empty()) refuse_name(kind, name);
  load(file);
  found.component = find_loaded(kind, name, &found.library);
  if (found.component == nullptr) throw PluginError(file + " has no component '" + name + "' of kind " + kind);
  return found;
}

void PluginRegistry::refuse_name(const std::string& kind, const std::string& name) const {
  std::vector<std::string> names;
  for (const LoadedLibrary* library : loaded_) {
    for (uint32_t i = 0; i < library->plugin->num_components; ++i) {
      const slw_component& component = *library->plugin->components[i];
      if (kind == component.kind) names.emplace_back(component.name);
    }
  }
  constexpr size_t kPrefix = std::string_view("libslipway_").size();
  for (const std::string& file : available_files()) names.push_back(fs::path(file).stem().string().substr(kPrefix));
  throw PluginError("no " + kind_word(kind) + " plugin is named '" + name + "'" + suggestion(name, names) +
                    "; searched: " + join(folders_, ":") + "; give its file by --plugin PATH");
}

std::vector<std::string> PluginRegistry::available_files() const {
  std::set<std::string> names;
  std::vector<std::string> files;
  for (const std::string& folder : folders_) {
    std::set<std::string> here;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("libslipway_") && name.ends_with(".so")) here.insert(name);
    }
    for (const std::string& name : here) {
      if (names.insert(name).second) files.push_back((fs::path(folder) / name).string());
    }
  }
  return files;
}

}  // namespace slipway
