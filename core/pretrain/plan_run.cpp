#include "core/pretrain/plan_run.h"

#include <slipway/dataset.h>
#include <slipway/dp.h>

#include <algorithm>
#include <filesystem>

#include "core/comm/compute_threads.h"
#include "core/comm/mesh.h"
#include "core/plugin_host/option_specs.h"
#include "core/pretrain/check_device.h"

namespace slipway {
namespace {

const std::string& kind_of_section(const std::string& section) {
  static const std::map<std::string, std::string> kinds{{"model", SLW_KIND_MODEL},
                                                        {"optimizer", SLW_KIND_OPTIMIZER},
                                                        {"optimizer.fallback", SLW_KIND_OPTIMIZER},
                                                        {"data_parallel", SLW_KIND_DP},
                                                        {"data", SLW_KIND_DATASET}};
  return kinds.at(section);
}

Config read_sections(const ResolvedManifest& resolved) {
  Config config;
  config.train = resolved.read<TrainConfig>("train");
  config.parallel = resolved.read<ParallelConfig>("parallel");
  config.checkpoint = resolved.read<CheckpointConfig>("checkpoint");
  config.logging = resolved.read<LoggingConfig>("logging");
  config.model = resolved.read<ModelConfig>("model");
  config.data = resolved.read<DataConfig>("data");
  return config;
}

// The plugins that a run uses, as its resolved manifest names them: by file, with what was loaded.
nlohmann::json plugin_entries(const RunPlan& plan) {
  nlohmann::json entries = nlohmann::json::array();
  for (const LoadedLibrary* library : plan.libraries()) {
    entries.push_back(
        {{"path", library->file.path}, {"sha256", library->file.sha256}, {"version", library->plugin->version}});
  }
  return entries;
}

}  // namespace

std::vector<const LoadedLibrary*> RunPlan::libraries() const {
  std::vector<const LoadedLibrary*> libraries;
  const auto add = [&](const ProviderPlan& provider) {
    const LoadedLibrary* library = provider.component.library;
    if (std::find(libraries.begin(), libraries.end(), library) == libraries.end()) libraries.push_back(library);
  };
  add(model);
  for (const ProviderPlan& optimizer : optimizers) add(optimizer);
  add(data_parallel);
  add(data);
  return libraries;
}

std::vector<std::string> plugin_folders(const std::vector<std::string>& arguments) {
  const std::string current = std::filesystem::current_path().string();
  const std::vector<OptionSpec> rows = option_rows<RunOptions>();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const OptionSpec& r) { return r.name == "plugin_path"; });
  std::vector<std::string> folders;
  for (const FlagArgument& flag : split_flags(arguments)) {
    if (flag.name != row->name) continue;
    const nlohmann::json value = value_of_text(*row, single_value(flag), "command line: " + flag.spelled);
    for (const nlohmann::json& path : value) folders.push_back(absolute_path(path.get<std::string>(), current));
  }
  return plugin_search_folders(folders);
}

std::vector<SectionSpec> manifest_sections() {
  return {{"model", option_rows<ModelConfig>(), ProviderUse::kRequired},
          {"optimizer", {}, ProviderUse::kRequired},
          {"optimizer.fallback", {}, ProviderUse::kOptional},
          {"data_parallel", {}, ProviderUse::kRequired},
          {"data", option_rows<DataConfig>(), ProviderUse::kRequired},
          {"parallel", option_rows<ParallelConfig>()},
          {"train", option_rows<TrainConfig>()},
          {"checkpoint", option_rows<CheckpointConfig>()},
          {"logging", option_rows<LoggingConfig>()},
          {"run", option_rows<RunOptions>(), ProviderUse::kNone, true}};
}

LoadedManifest load_manifest(const std::vector<std::string>& arguments, PluginRegistry& registry) {
  const std::string folder = std::filesystem::current_path().string();
  LoadedManifest loaded{Manifest::parse(manifest_sections(), arguments, folder), {}, {}};
  for (const PluginEntry& entry : loaded.manifest.plugins()) {
    const LoadedLibrary& library = registry.load(entry.file, entry.sha256);
    if (entry.version.empty() || entry.version == library.plugin->version) continue;
    throw PluginError(library.file.path + " is version " + library.plugin->version + ", the manifest pins " +
                      entry.version + "; use that version or change the pin");
  }
  for (const ProviderChoice& choice : loaded.manifest.choices()) {
    const Component component = registry.find(kind_of_section(choice.section), choice.use);
    loaded.tables[choice.section] = option_specs(component);
    loaded.components[choice.section] = component;
  }
  return loaded;
}

RunPlan plan_run(const std::vector<std::string>& arguments, const RankCounts& ranks, Reporter& reporter) {
  PluginRegistry registry(plugin_folders(arguments), libtorch_build(), reporter);
  const LoadedManifest loaded = load_manifest(arguments, registry);
  const ResolvedManifest resolved = loaded.manifest.resolve(loaded.tables);
  const auto provider = [&](const std::string& section) {
    return ProviderPlan{loaded.components.at(section), resolved.provider_options(section).dump()};
  };

  RunPlan plan;
  plan.config = read_sections(resolved);
  plan.model = provider("model");
  plan.data_parallel = provider("data_parallel");
  plan.data = provider("data");
  plan.optimizers.push_back(provider("optimizer"));
  if (loaded.components.contains("optimizer.fallback")) plan.optimizers.push_back(provider("optimizer.fallback"));
  plan.libtorch_build = registry.libtorch_build();

  const ParallelConfig& parallel = plan.config.parallel;
  const int64_t model_ranks =
      parallel.tensor_model_parallel_size * parallel.pipeline_model_parallel_size * parallel.context_parallel_size;
  plan.config.train.resolve(std::max<int64_t>(1, ranks.world_size / model_ranks), ranks.local_world_size);
  check_device(plan.config);
  const auto run = resolved.read<RunOptions>("run");
  plan.output_dir = run.output_dir;
  plan.resume = run.resume;
  plan.skip_train = run.skip_train;
  if (plan.resume && plan.output_dir.empty()) {
    throw ConfigError("--resume wants the folder of the run: --output-dir DIR");
  }
  if (plan.skip_train && *plan.config.train.eval.eval_iters == 0) {
    throw ConfigError("--skip-train only evaluates and train.eval_iters is 0; give --eval-iters, e.g. 100");
  }
  nlohmann::json json = resolved.json();
  json["train"] = write_config(plan.config.train);
  json["plugins"] = plugin_entries(plan);
  plan.resolved_json = json.dump(2);
  return plan;
}

}  // namespace slipway
