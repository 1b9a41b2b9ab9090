#include "core/pretrain/random_streams.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;

// Who a rank's streams belong to. Data-parallel ranks share them, unless each starts from numbers of its own.
Json seat_of(const Runtime& runtime) {
  const bool is_own = runtime.config().train.data_parallel_random_init;
  return {{"pp", runtime.rank_in("pp")}, {"tp", runtime.rank_in("tp")}, {"dp", is_own ? runtime.rank_in("dp") : 0}};
}

// What the streams' use depends on.
Json sizes_of(const Runtime& runtime, const Training& training) {
  const MeshSizes& sizes = runtime.mesh.sizes();
  Json json{{"tp", sizes.tp},
            {"pp", sizes.pp},
            {"vpp", training.whole.chunks_per_rank},
            {"sequence_parallel", runtime.config().parallel.sequence_parallel}};
  if (runtime.config().train.data_parallel_random_init) json["dp"] = runtime.mesh.dp();
  return json;
}

std::span<float> values_of(const Training& training, int32_t param) {
  const Param& known = training.table.params()[static_cast<size_t>(param)];
  return {training.store->data(param), static_cast<size_t>(known.local_numel)};
}

}  // namespace

std::unique_ptr<StreamTracker> make_streams(const Runtime& runtime) {
  const TrainConfig& train = runtime.config().train;
  if (train.rng != "megatron") return nullptr;
  if (runtime.is_first_rank()) {
    runtime.context.log->warning(
        "rng megatron: initial values and dropout come from Megatron's streams, so numbers depend on the layout");
  }
  StreamPlace place{runtime.rank_in("pp"), runtime.rank_in("tp"), runtime.rank_in("ep"), runtime.rank_in("etp"), 0};
  if (train.data_parallel_random_init) place.dp_rank = runtime.rank_in("dp");
  return std::make_unique<StreamTracker>(megatron_streams(static_cast<uint64_t>(train.seed), place));
}

void equalize_initial_values(Runtime& runtime, Training& training) {
  for (const int32_t param : training.shared) {
    const std::span<float> values = values_of(training, param);
    const bool is_copy = training.table.params()[static_cast<size_t>(param)].is_shared_copy;
    if (is_copy) std::fill(values.begin(), values.end(), 0.0f);
    all_reduce(*runtime.comm->core("embd"), values);
  }
  if (!runtime.config().train.data_parallel_random_init) return;
  for (const Param& param : training.table.params()) {
    broadcast(*runtime.comm->core("dp_cp"), values_of(training, param.index), 0);
  }
}

std::string gather_streams(Runtime& runtime, const Training& training) {
  if (!training.streams) return "";
  const Json mine{{"seat", seat_of(runtime)}, {"streams", Json::parse(training.streams->to_json())}};
  Json all = Json::array();
  for (const std::string& text : all_gather_text(runtime.comm->core(), mine.dump())) {
    const Json entry = Json::parse(text);
    const bool is_known =
        std::any_of(all.begin(), all.end(), [&](const Json& known) { return known["seat"] == entry["seat"]; });
    if (!is_known) all.push_back(entry);
  }
  return Json{{"layout", sizes_of(runtime, training)}, {"ranks", all}}.dump();
}

void restore_streams(const Runtime& runtime, Training& training, const std::string& text) {
  if (!training.streams || text.empty()) return;
  try {
    const Json stored = Json::parse(text), layout = sizes_of(runtime, training), wanted = seat_of(runtime);
    if (stored.at("layout") != layout) {
      if (!runtime.is_first_rank()) return;
      runtime.context.log->warning("the random streams of the checkpoint are those of the layout " +
                                   stored.at("layout").dump() + ", this run has " + layout.dump() +
                                   "; they begin anew from train.seed");
      return;
    }
    for (const Json& entry : stored.at("ranks")) {
      if (entry.at("seat") == wanted) return training.streams->restore(entry.at("streams").dump());
    }
    throw CheckpointError("the checkpoint has no random streams for the rank at " + wanted.dump());
  } catch (const Json::exception& error) {
    throw CheckpointError(std::string("the random streams of the checkpoint are damaged: ") + error.what());
  }
}

}  // namespace slipway
