// A section of a manifest, and its values against the rows of its options. Pure functions; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config/flags.h"
#include "core/config/option.h"

namespace slipway {

enum class ProviderUse { kNone, kOptional, kRequired };

// What the core knows of a section. A name with a dot ("optimizer.fallback") is an object inside its parent's section,
// which must stand before it in a list of sections.
struct SectionSpec {
  std::string name;
  std::vector<OptionSpec> options = {};       // the core's own
  ProviderUse provider = ProviderUse::kNone;  // has "use": "<provider>" and that provider's options beside the core's
  bool command_line_only = false;             // no part of the manifest, given or resolved
};

// Where a section was written, for messages: "run.json" and "train".
struct SectionPlace {
  std::string source;
  std::string section;

  std::string of_key(const std::string& key) const { return source + ": " + section + "." + key; }
};

// The values that `given` (an object) sets, checked. Throws ConfigError for an unknown key (with the nearest name), a
// wrong type, range or choice. Relative path options are taken from `folder`; "" leaves them as they are.
nlohmann::json checked_options(const std::vector<OptionSpec>& options, const nlohmann::json& given,
                               const SectionPlace& place, const std::string& folder = "");

// `checked` with the default of every other option. Throws ConfigError naming each option that has none.
nlohmann::json complete_options(const std::vector<OptionSpec>& options, nlohmann::json checked,
                                const SectionPlace& place);

// The value with each relative path in it made absolute: a string, strings in lists, and in objects the members "path"
// and "paths". "" stays "".
nlohmann::json absolute_paths(nlohmann::json value, const std::string& folder);
std::string absolute_path(const std::string& path, const std::string& folder);

}  // namespace slipway
