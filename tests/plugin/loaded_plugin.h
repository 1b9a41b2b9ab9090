// Loads a plugin the plain way, for tests of plugins; the checks of the real loader are not repeated here.
#pragma once

#include <slipway/host.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

// A buffer for error texts. error.message is always a text.
class ErrorText {
 public:
  ErrorText() : error_{SLW_SIZE_TO(slw_error, needed), SLW_OK, text_, sizeof text_, 0} {}
  slw_error* get() { return &error_; }
  std::string text() const { return text_; }

 private:
  char text_[2048] = {};
  slw_error error_;
};

// build/lib/slipway/plugins, with a slash. Throws when SLIPWAY_BUILD_DIR is not set.
std::string built_plugins_dir();
// Every shared object in a folder, sorted.
std::vector<std::string> shared_objects_in(const std::string& folder);

// The descriptor of the plugin in `path`. It stays loaded to the end of the process. Throws std::runtime_error.
const slw_plugin& load_plugin(const std::string& path);
// Throws std::runtime_error when the plugin has no such component.
const slw_component& find_component(const slw_plugin& plugin, const std::string& kind, const std::string& name);

// A component to run a table of cases on.
struct Subject {
  std::string name;
  const slw_component* component;
};
// Every component of `kind` in build/lib/slipway/plugins.
std::vector<Subject> built_components(const std::string& kind);

// What `create` gets: the defaults of the component's options, replaced by `given` (JSON text of an object).
std::string complete_config(const slw_component& component, const std::string& given);
