#include "core/pretrain/make_model.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/parallel/stages.h"
#include "core/pretrain/check_layout.h"
#include "core/pretrain/pipeline.h"

namespace slipway {
namespace {

slw_run_info run_info_of(const Runtime& runtime, int64_t vocab_size_of_data) {
  const int rank = runtime.context.rank.rank;
  slw_run_info run = make_run_info(runtime.plan, runtime.mesh, vocab_size_of_data);
  run.tp_rank = runtime.rank_in("tp"), run.pp_rank = runtime.rank_in("pp"), run.cp_rank = runtime.rank_in("cp");
  run.ep_rank = runtime.rank_in("ep"), run.etp_rank = runtime.rank_in("etp");
  run.dp_rank = runtime.dp_rank(), run.edp_rank = runtime.mesh.coordinate("edp", rank);
  return run;
}

GroupPlaces group_places(const Runtime& runtime) {
  const MeshSizes& sizes = runtime.mesh.sizes();
  return {{"tp", {sizes.tp, runtime.rank_in("tp")}},
          {"ep", {sizes.ep, runtime.rank_in("ep")}},
          {"etp", {sizes.etp, runtime.rank_in("etp")}}};
}

void declare_model(Runtime& runtime, Training& training) {
  const Config& config = runtime.config();
  const ProviderPlan& chosen = runtime.plan.model;
  training.model = std::make_unique<HostModel>(chosen.component, *runtime.host, chosen.options_json, training.run_info);
  training.description = training.model->describe();
  check_layout(config, chosen.name(), training.description);
  training.whole = declare_whole(*training.model, training.description, config.parallel);
  check_schedules(config.parallel, training.whole.chunks_per_rank, config.train.batches(runtime.mesh.dp()));
  const int pp_rank = runtime.rank_in("pp");
  training.chunks = stages_of_rank(training.whole.stages, training.whole.pp, pp_rank);
  training.table = declare_rank(*training.model, training.whole, pp_rank, group_places(runtime));
  training.flops_per_sample = flops_per_sample(*training.model, training.whole, config.train, runtime.mesh.sizes().tp);
  runtime.host->metrics().declare(training.whole.table.metrics());
  training.reads_data = false;
  for (const slw_stage& chunk : training.chunks) {
    const IoSpec io = training.model->io_spec(chunk, config.train.micro_batch_size, config.train.seq_length);
    training.reads_data = training.reads_data || !io.fields.empty();
  }
}

std::string plan_hash(const DpPlan& plan) {
  const std::string text = plan.to_text();
  return hex64(xxh3_64(text.data(), text.size()));
}

// Ranks that share a pipeline stage lay their buffers out alike.
void compare_plans(Runtime& runtime, const DpPlan& plan) {
  const std::vector<std::string> hashes = all_gather_text(runtime.comm->core(), plan_hash(plan));
  const RankList peers = runtime.mesh.group_of("tp_dp_cp", runtime.context.rank.rank);
  for (size_t rank = 0; rank < hashes.size(); ++rank) {
    const bool is_peer = std::find(peers.begin(), peers.end(), static_cast<int>(rank)) != peers.end();
    if (!is_peer || hashes[rank] == hashes[static_cast<size_t>(peers.front())]) continue;
    throw ConfigError("ranks " + std::to_string(peers.front()) + " and " + std::to_string(rank) +
                      " have different data-parallel plans for the same pipeline stage; the backend's plan has to "
                      "depend on the parameter table alone");
  }
}

// Copies of a tie on two stages have to be cut over the data-parallel ranks alike, because their gradients are added
// part by part.
void compare_shared(Runtime& runtime, const Training& training) {
  std::string text;
  for (const OwnedRange& owned : training.owned) {
    const Param& param = training.table.params()[static_cast<size_t>(owned.param)];
    const bool is_shared =
        std::find(training.shared.begin(), training.shared.end(), owned.param) != training.shared.end();
    if (is_shared) text += param.name() + " " + std::to_string(owned.begin) + "-" + std::to_string(owned.end) + "\n";
  }
  const std::vector<std::string> texts = all_gather_text(runtime.comm->core(), text);
  const RankList ends = runtime.mesh.group_of("embd", runtime.context.rank.rank);
  for (const int rank : ends) {
    if (texts[static_cast<size_t>(rank)] == text) continue;
    throw PluginError("the data-parallel backend " + runtime.plan.data_parallel.name() +
                      " cuts the tied parameters of first and last pipeline stage differently; a tie needs a bucket of "
                      "its own");
  }
}

std::vector<int32_t> shared_params(const ParamTable& table, const WholeModel& whole) {
  const std::vector<std::string> ties = crossing_ties(whole);
  std::vector<int32_t> shared;
  for (const Param& param : table.params()) {
    const char* tie = param.decl().tie;
    if (tie != nullptr && std::find(ties.begin(), ties.end(), tie) != ties.end()) shared.push_back(param.index);
  }
  return shared;
}

// Buffers as the data-parallel backend plans them, on every rank of a stage alike.
void place_params(Runtime& runtime, Training& training) {
  const ProviderPlan& chosen = runtime.plan.data_parallel;
  training.dp = std::make_unique<HostDp>(chosen.component, *runtime.host, chosen.options_json, training.run_info);
  training.plan = make_plan(*training.dp, training.table);
  compare_plans(runtime, training.plan);
  training.owned = owned_ranges(training.plan, training.table, runtime.rank_in("dp_cp"));
  training.shared = shared_params(training.table, training.whole);
  compare_shared(runtime, training);
  training.store = std::make_unique<ParamStore>(training.table, training.plan);
  training.dp->attach(training.store->dp_buffers());
  for (size_t c = 0; c < training.chunks.size(); ++c) {
    training.model->bind(training.chunks[c], training.store->views(static_cast<int32_t>(c)));
  }
}

}  // namespace

Vocabulary read_vocabulary(const HostDataset& dataset) {
  const slw_dataset_info info = dataset.info();
  return {info.vocab_size, info.eod_id, info.tokenizer == nullptr ? "" : info.tokenizer};
}

std::unique_ptr<Training> make_model(Runtime& runtime, const Vocabulary& vocabulary) {
  auto training = std::make_unique<Training>();
  training->vocabulary = vocabulary;
  training->run_info = run_info_of(runtime, vocabulary.size);
  declare_model(runtime, *training);
  place_params(runtime, *training);
  return training;
}

}  // namespace slipway
