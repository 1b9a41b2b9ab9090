#include "tests/plugin/loaded_plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

std::string built_plugins_dir() {
  const char* build = std::getenv("SLIPWAY_BUILD_DIR");
  if (build == nullptr) throw std::runtime_error("SLIPWAY_BUILD_DIR is not set; run the tests with ctest");
  return std::string(build) + "/lib/slipway/plugins/";
}

std::vector<std::string> shared_objects_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".so") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

const slw_plugin& load_plugin(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const void* symbol = ::dlsym(library, "slw_plugin_v0");
  if (symbol == nullptr) throw std::runtime_error(path + ": exports no slw_plugin_v0");
  return *static_cast<const slw_plugin*>(symbol);
}

const slw_component& find_component(const slw_plugin& plugin, const std::string& kind, const std::string& name) {
  for (uint32_t i = 0; i < plugin.num_components; ++i) {
    if (plugin.components[i]->kind == kind && plugin.components[i]->name == name) return *plugin.components[i];
  }
  throw std::runtime_error(std::string(plugin.id) + ": has no " + kind + " named " + name);
}

std::vector<Subject> built_components(const std::string& kind) {
  std::vector<Subject> subjects;
  for (const std::string& path : shared_objects_in(built_plugins_dir())) {
    const slw_plugin& plugin = load_plugin(path);
    for (uint32_t i = 0; i < plugin.num_components; ++i) {
      const slw_component& component = *plugin.components[i];
      if (component.kind == kind) subjects.push_back({component.name, &component});
    }
  }
  return subjects;
}

std::string complete_config(const slw_component& component, const std::string& given) {
  nlohmann::json config = nlohmann::json::object();
  for (uint32_t i = 0; i < component.num_options; ++i) {
    const slw_option& option = *component.options[i];
    if (option.default_json != nullptr) config[option.name] = nlohmann::json::parse(option.default_json);
  }
  config.update(nlohmann::json::parse(given));
  return config.dump();
}
