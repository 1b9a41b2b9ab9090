// The plugins of one run: loaded by path, or found by name in the search folders. Nothing is loaded that was not asked
// for. Used on the main thread of a rank.
#pragma once

#include <slipway/host.h>

#include <string>
#include <vector>

#include "core/base/reporter.h"
#include "core/plugin_host/call.h"
#include "core/plugin_host/library.h"

namespace slipway {

// One provider of a loaded plugin.
struct Component {
  const LoadedLibrary* library = nullptr;
  const slw_component* component = nullptr;

  const slw_component& get() const { return *component; }
  CallSite site(ExitCode blame = ExitCode::kPlugin) const;  // "model gpt"
};

class PluginRegistry {
 public:
  // `folders` are searched in order for lib slipway_<name>.so files.
  PluginRegistry(std::vector<std::string> folders, std::string libtorch_build, Reporter& reporter);

  // Loads a file, or for a bare name libslipway_<name>.so of the search folders. `sha256` pins its content; "" does
  // not. Throws PluginError.
  const LoadedLibrary& load(const std::string& path_or_name, const std::string& sha256 = "");
  // The component `name` of `kind`: from the plugins loaded so far, else from libslipway_<name>.so in the search
  // folders. Throws PluginError that lists what there is.
  Component find(const std::string& kind, const std::string& name);

  const std::vector<const LoadedLibrary*>& loaded() const { return loaded_; }
  const std::string& libtorch_build() const { return libtorch_build_; }
  // Plugin files in the search folders, first folder first; a name that an earlier folder has is left out.
  std::vector<std::string> available_files() const;

 private:
  // "" when no folder has it.
  std::string file_of_name(const std::string& name) const;
  [[noreturn]] void refuse_name(const std::string& kind, const std::string& name) const;
  const slw_component* find_loaded(const std::string& kind, const std::string& name,
                                   const LoadedLibrary** library) const;

  std::vector<std::string> folders_;
  std::string libtorch_build_;
  Reporter& reporter_;
  std::vector<const LoadedLibrary*> loaded_;
};

// `extra` (from --plugin-path), then $SLIPWAY_PLUGIN_PATH (ignored for a set-user-id program), then the folder of the
// installation: ../lib/slipway/plugins beside this program's folder.
std::vector<std::string> plugin_search_folders(const std::vector<std::string>& extra);

// "slw.model/1" -> "model"
std::string kind_word(const std::string& kind);

}  // namespace slipway
