// A manifest as it stands in its file, split into sections but not yet held against any option. A value; any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config/section.h"

namespace slipway {

struct PluginEntry {
  std::string file;         // an absolute path; or a bare name, without '/' and ".so", to be searched for
  std::string sha256 = {};  // pins from the manifest; "" when not pinned
  std::string version = {};
};

struct ManifestFile {
  std::string source = "command line";  // the file's name for messages
  std::string folder;                   // absolute; relative paths in the file start here
  std::string slipway_version;
  std::vector<PluginEntry> plugins;
  std::map<std::string, nlohmann::json> given;  // by section: an object without "use" and without nested sections
  std::map<std::string, std::string> use;       // by section
};

// `path` is taken from `current_folder` when relative. Throws ConfigError for what is no manifest with these sections.
ManifestFile read_manifest_file(const std::string& path, const std::string& current_folder,
                                const std::vector<SectionSpec>& sections);

// The absolute path of a plugin given as a file; a bare name is left as it is.
std::string plugin_file(const std::string& text, const std::string& folder);

}  // namespace slipway
