#include "core/pretrain/run_state.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kFormat = 2;

Json plugins_json(const Runtime& runtime) {
  Json list = Json::array();
  for (const LoadedLibrary* library : runtime.plan.libraries()) {
    list.push_back(
        {{"id", library->plugin->id}, {"version", library->plugin->version}, {"sha256", library->file.sha256}});
  }
  return list;
}

// "train.lr: stored 0.001, used 0.002" for every leaf that differs.
void differences(const Json& stored, const Json& used, const std::string& path, std::vector<std::string>& out) {
  if (stored.is_object() && used.is_object()) {
    for (const auto& [key, value] : stored.items()) {
      differences(value, used.contains(key) ? used[key] : Json(), path.empty() ? key : path + "." + key, out);
    }
    for (const auto& [key, value] : used.items()) {
      if (!stored.contains(key)) differences(Json(), value, path.empty() ? key : path + "." + key, out);
    }
    return;
  }
  if (stored != used) out.push_back(path + ": stored " + stored.dump() + ", used " + used.dump());
}

bool must_be_equal(const std::string& difference) {
  return difference.starts_with("model.") || difference.starts_with("train.seed:") ||
         difference.starts_with("train.rng:") || difference.starts_with("train.seq_length:");
}

void compare_manifests(const Json& stored, const std::string& file, const Runtime& runtime) {
  std::vector<std::string> found;
  differences(stored, Json::parse(runtime.plan.resolved_json), "", found);
  for (const std::string& difference : found) {
    if (must_be_equal(difference)) {
      throw CheckpointError(file + " belongs to another model or seed; " + difference +
                            "; resume with the stored value, or start a new run");
    }
    if (runtime.is_first_rank()) runtime.context.log->info("resume with another value of " + difference);
  }
}

}  // namespace

std::string run_state_text(const Runtime& runtime, const Training& training, const std::string& data_fingerprint,
                           const std::string& streams) {
  const Progress& p = training.progress;
  Json state;
  state["format"] = kFormat;
  state["step"] = p.step;
  state["updates"] = p.updates;
  state["consumed_samples"] = p.consumed_samples;
  state["trained_samples"] = p.trained_samples;
  state["tokens"] = p.tokens;
  state["skipped_steps"] = p.skipped_steps;
  state["consumed_valid_samples"] = p.consumed_valid_samples;
  state["evaluation_due"] = p.evaluation_due;
  state["num_floating_point_operations_so_far"] = p.num_floating_point_operations_so_far;
  state["data_fingerprint"] = data_fingerprint;
  const Vocabulary& vocabulary = training.vocabulary;
  state["vocabulary"] = {{"size", vocabulary.size}, {"eod_id", vocabulary.eod_id}, {"tokenizer", vocabulary.tokenizer}};
  state["table_version"] = training.description.table_version;
  const MeshSizes& sizes = runtime.mesh.sizes();
  state["layout"] = {{"world_size", sizes.world},
                     {"tp", sizes.tp},
                     {"pp", sizes.pp},
                     {"vpp", training.whole.chunks_per_rank},
                     {"dp", runtime.mesh.dp()}};
  if (!streams.empty()) state["random_streams"] = Json::parse(streams);
  state["libtorch"] = runtime.plan.libtorch_build;
  state["plugins"] = plugins_json(runtime);
  state["manifest"] = Json::parse(runtime.plan.resolved_json);
  return state.dump(1);
}

RestoredState read_run_state(const std::string& text, const std::string& file, const Runtime& runtime,
                             const Training& training) {
  try {
    const Json state = Json::parse(text);
    if (state.at("format").get<int>() != kFormat) throw CheckpointError(file + " has a format of another version");
    const auto version = state.at("table_version").get<uint32_t>();
    if (version != training.description.table_version) {
      throw CheckpointError(file + " was written with version " + std::to_string(version) +
                            " of the model's parameter table, this model has " +
                            std::to_string(training.description.table_version));
    }
    compare_manifests(state.at("manifest"), file, runtime);
    RestoredState restored;
    Progress& p = restored.progress;
    p.step = state.at("step");
    p.updates = state.at("updates");
    p.consumed_samples = state.at("consumed_samples");
    p.trained_samples = state.at("trained_samples");
    p.tokens = state.at("tokens");
    p.skipped_steps = state.at("skipped_steps");
    p.consumed_valid_samples = state.at("consumed_valid_samples");
    p.evaluation_due = state.at("evaluation_due");
    p.num_floating_point_operations_so_far = state.at("num_floating_point_operations_so_far");
    restored.data_fingerprint = state.at("data_fingerprint");
    if (state.contains("random_streams")) restored.streams = state.at("random_streams").dump();
    return restored;
  } catch (const Json::exception& error) {
    throw CheckpointError(file + " is damaged: " + error.what());
  }
}

}  // namespace slipway
