#include "core/pretrain/same_run.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

using nlohmann::json;

// By component, "model gpt".
json plugins_of(const RunPlan& plan) {
  json plugins = json::object();
  const auto add = [&](const ProviderPlan& provider) {
    const LoadedLibrary& library = *provider.component.library;
    plugins[provider.component.site().component] = {
        {"id", library.plugin->id}, {"version", library.plugin->version}, {"sha256", library.file.sha256}};
  };
  for (const ProviderPlan* provider : {&plan.model, &plan.data_parallel, &plan.data}) add(*provider);
  for (const ProviderPlan& optimizer : plan.optimizers) add(optimizer);
  return plugins;
}

json manifest_of(const RunPlan& plan) {
  json manifest = json::parse(plan.resolved_json);
  manifest.erase("plugins");
  manifest["run"] = {{"output_dir", plan.output_dir}, {"resume", plan.resume}, {"skip_train", plan.skip_train}};
  return manifest;
}

std::string plugin_text(const json& plugin) {
  const auto text = [&](const char* key) { return plugin.at(key).get<std::string>(); };
  return text("id") + " " + text("version") + " with sha256 " + text("sha256");
}

void compare_plugins(const json& first, const json& other, const std::string& other_rank) {
  for (const auto& [component, plugin] : first.items()) {
    if (!other.contains(component) || other[component] == plugin) continue;
    throw PluginError("the ranks have different plugins for " + component + ": rank 0 has " + plugin_text(plugin) +
                      ", " + other_rank + " has " + plugin_text(other[component]) +
                      "; give every rank the same plugin file (--plugin, SLIPWAY_PLUGIN_PATH)");
  }
}

void compare_manifests(const json& first, const json& other, const std::string& other_rank) {
  const json differences = json::diff(first, other);
  if (differences.empty()) return;
  const json::json_pointer place(differences[0].at("path").get<std::string>());
  const auto value = [&](const json& of) { return of.contains(place) ? of[place].dump() : "missing"; };
  throw ConfigError("the ranks were started differently: " + replace_char(place.to_string().substr(1), '/', '.') +
                    " is " + value(first) + " on rank 0 and " + value(other) + " on " + other_rank +
                    "; start every rank with the same manifest and options");
}

}  // namespace

void require_same_run(Runtime& runtime) {
  const json mine = {{"plugins", plugins_of(runtime.plan)}, {"manifest", manifest_of(runtime.plan)}};
  const std::string text = mine.dump();
  const auto hashes = all_gather_text(runtime.comm->core(), hex64(xxh3_64(text.data(), text.size())));
  const auto different =
      std::find_if(hashes.begin(), hashes.end(), [&](const std::string& hash) { return hash != hashes.front(); });
  if (different == hashes.end()) return;
  // Only now the two texts go around.
  const auto rank = static_cast<int>(different - hashes.begin());
  const bool tells = runtime.is_first_rank() || runtime.context.rank.rank == rank;
  const auto texts = all_gather_text(runtime.comm->core(), tells ? text : "");
  const json first = json::parse(texts.front()), other = json::parse(texts[static_cast<size_t>(rank)]);
  const std::string name = "rank " + std::to_string(rank);
  compare_plugins(first.at("plugins"), other.at("plugins"), name);
  compare_manifests(first.at("manifest"), other.at("manifest"), name);
  throw ConfigError("rank 0 and " + name + " have different runs; start every rank with the same manifest and options");
}

}  // namespace slipway
