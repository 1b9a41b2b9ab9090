// From a command line to a RunPlan: reads the manifest, loads the plugins it names, checks every value. No rank, no
// device and no communication is needed.
#pragma once

#include <string>
#include <vector>

#include "core/base/reporter.h"
#include "core/config/manifest.h"
#include "core/pretrain/run_plan.h"

namespace slipway {

// What the command line says beside the manifest.
struct RunOptions {
  std::string output_dir;
  bool resume = false;
  bool skip_train = false;
  std::vector<std::string> plugin_path;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("output_dir", self.output_dir, "Folder for metrics, log and checkpoints; without it nothing is written.",
          {.is_path = true});
    visit("resume", self.resume, "Go on with the run in the output folder from its newest checkpoint.");
    visit("skip_train", self.skip_train,
          "Only evaluate, eval_iters global batches of the validation and of the test split.");
    visit("plugin_path", self.plugin_path, "Folders to search for plugins, before SLIPWAY_PLUGIN_PATH.",
          {.is_path = true});
  }
};

// The sections of a manifest, and "run" for the command line only.
std::vector<SectionSpec> manifest_sections();

// Where ranks are placed: what defaults depend on.
struct RankCounts {
  int world_size = 1;
  int local_world_size = 1;
};

// Throws ConfigError and PluginError.
RunPlan plan_run(const std::vector<std::string>& arguments, const RankCounts& ranks, Reporter& reporter);

// Where plugins are searched: --plugin-path of `arguments`, then as plugin_search_folders says. Read ahead of all other
// options, most of which are known only once the plugins are loaded.
std::vector<std::string> plugin_folders(const std::vector<std::string>& arguments);

// The manifest of `arguments` with its plugins loaded, and the option tables of the providers it chooses: what help
// needs. `registry` keeps the plugins.
struct LoadedManifest {
  Manifest manifest;
  OptionTables tables;
  std::map<std::string, Component> components;  // by section
};
LoadedManifest load_manifest(const std::vector<std::string>& arguments, PluginRegistry& registry);

}  // namespace slipway
