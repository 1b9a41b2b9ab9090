// The run manifest: one JSON file with comments, and the command line over it. It is read in two phases, since the
// options of a provider (a plugin's model, optimizer, ...) are known only when its plugin is loaded:
//   1. Manifest::parse reads file and flags and tells plugins() and choices();
//   2. resolve takes the chosen providers' option tables, checks everything and gives every value.
// Precedence: command line, manifest, default. Values; any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/config/flags.h"
#include "core/config/manifest_file.h"
#include "core/config/option.h"
#include "core/config/section.h"

namespace slipway {

struct ProviderChoice {
  std::string section;
  std::string use;
  std::string where;  // for messages: "run.json: model.use", "command line: --model"
};

// Option tables of the chosen providers, by section.
using OptionTables = std::map<std::string, std::vector<OptionSpec>>;

// Every value of a run, checked.
class ResolvedManifest {
 public:
  // The whole manifest with all values, keys sorted, as it is written to manifest.resolved.json. "plugins" holds the
  // entries as given: who loads them adds sha256 and version, and "slipway_version".
  const nlohmann::json& json() const { return json_; }

  // The core's options of a section as its struct.
  template <class Config>
  Config read(const std::string& section) const {
    return read_config<Config>(core_.at(section));
  }

  // The chosen provider's options of a section: what its `create` gets. REQUIRES: a provider is chosen there.
  const nlohmann::json& provider_options(const std::string& section) const { return providers_.at(section); }

 private:
  friend class Manifest;
  nlohmann::json json_ = nlohmann::json::object();
  std::map<std::string, nlohmann::json> core_;
  std::map<std::string, nlohmann::json> providers_;
};

class Manifest {
 public:
  // `arguments` is what follows the command: --manifest FILE, --plugin FILE (repeatable), --<section> NAME or
  // --<section>.use NAME, and any option. Relative paths among them are taken from `current_folder` (absolute).
  // Throws ConfigError.
  static Manifest parse(std::vector<SectionSpec> sections, const std::vector<std::string>& arguments,
                        const std::string& current_folder);

  // In the manifest's order, then the command line's; a file named twice is there once.
  const std::vector<PluginEntry>& plugins() const { return plugins_; }
  // In the order of the sections; optional ones only when chosen.
  const std::vector<ProviderChoice>& choices() const { return choices_; }
  // The program version that a resolved manifest was written by; "" when the manifest does not say.
  const std::string& slipway_version() const { return file_.slipway_version; }
  const std::vector<SectionSpec>& sections() const { return sections_; }

  // REQUIRES: `tables` has an entry for every choice. Throws ConfigError for the user's mistakes, PluginError for a
  // table that cannot be used.
  ResolvedManifest resolve(const OptionTables& tables) const;

 private:
  void take_flags(const std::vector<std::string>& arguments);
  bool take_early_flag(const FlagArgument& flag);
  void choose_provider(const std::string& section, const FlagArgument& flag);
  void merge_plugins();
  void list_choices();
  void check_tables(const OptionTables& tables) const;
  std::vector<Assignment> assign_flags(const OptionTables& tables) const;
  void refuse_misplaced(const SectionSpec& section, const OptionTables& tables) const;
  nlohmann::json given_values(const SectionSpec& section, const OptionTables& tables,
                              const std::vector<Assignment>& flags) const;
  void complete_section(const SectionSpec& section, const OptionTables& tables, nlohmann::json given,
                        ResolvedManifest& result) const;
  std::vector<OptionSpec> all_options(const SectionSpec& section, const OptionTables& tables) const;

  std::vector<SectionSpec> sections_;
  std::string current_folder_;
  std::string manifest_path_;
  ManifestFile file_;
  std::vector<FlagArgument> flags_;  // those that set options
  std::vector<PluginEntry> extra_plugins_;
  std::map<std::string, ProviderChoice> flag_choices_;
  std::vector<PluginEntry> plugins_;
  std::vector<ProviderChoice> choices_;
};

}  // namespace slipway
