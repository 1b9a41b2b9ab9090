#include "core/generate/checkpoint_plan.h"

#include <sys/mman.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/pretrain/plan_run.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A file in memory, by the path under which this process can read it.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& text) : fd_(::memfd_create("manifest", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      throw Error(ExitCode::kUsage, "no memory for the checkpoint's manifest");
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

// The manifest for one rank: any layout's checkpoint loads into it.
json manifest_for_one_rank(json manifest, Log& log) {
  manifest["parallel"] = json::object();
  json plugins = json::array();
  for (const json& plugin : manifest.at("plugins")) {
    const std::string path = plugin.at("path");
    if (fs::exists(path)) {
      plugins.push_back({{"path", path}});
    } else {
      log.warning("plugin " + path + " is not there any more; looking for it by name");
    }
  }
  manifest["plugins"] = plugins;
  return manifest;
}

void compare_plugins(const json& stored, const RunPlan& plan, Log& log) {
  for (const LoadedLibrary* library : plan.libraries()) {
    for (const json& before : stored) {
      const bool is_changed = before.at("id") == library->plugin->id && before.at("sha256") != library->file.sha256;
      if (!is_changed) continue;
      log.warning("plugin " + library->file.path + " is not the file that trained this model: version " +
                  library->plugin->version + ", then " + before.at("version").get<std::string>() +
                  "; results may differ");
    }
  }
}

CheckpointPlan read_plan(const json& state, const std::vector<std::string>& plugin_flags, Reporter& reporter,
                         Log& log) {
  const MemoryFile manifest(manifest_for_one_rank(state.at("manifest"), log).dump());
  std::vector<std::string> arguments{"--manifest", manifest.path()};
  arguments.insert(arguments.end(), plugin_flags.begin(), plugin_flags.end());
  CheckpointPlan result{plan_run(arguments, {1, 1}, reporter), {}, state.at("table_version")};
  compare_plugins(state.at("plugins"), result.plan, log);
  const json& vocabulary = state.at("vocabulary");
  result.vocabulary = {vocabulary.at("size"), vocabulary.at("eod_id"), vocabulary.at("tokenizer")};
  return result;
}

}  // namespace

fs::path find_checkpoint(const fs::path& path, Log& log) {
  if (!fs::is_directory(path))
    throw CheckpointError("there is no folder " + path.string() + "; give a run's or a checkpoint's");
  if (fs::exists(path / "state.json")) return path;
  const fs::path root = fs::is_directory(path / "checkpoints") ? path / "checkpoints" : path;
  const std::optional<FoundCheckpoint> found = newest_checkpoint(root);
  if (!found)
    throw CheckpointError("there is no checkpoint in " + root.string() + "; give the folder of a run that saved one");
  for (const std::string& note : found->notes) log.warning(note);
  return found->folder;
}

CheckpointPlan plan_of_checkpoint(const CheckpointReader& reader, const std::vector<std::string>& plugin_flags,
                                  Reporter& reporter, Log& log) {
  const std::string file = (reader.folder() / "state.json").string();
  try {
    return read_plan(json::parse(reader.state()), plugin_flags, reporter, log);
  } catch (const json::exception& error) {
    throw CheckpointError(file +
                          " is damaged, or of a version that does not tell what generating needs: " + error.what());
  }
}

}  // namespace slipway
