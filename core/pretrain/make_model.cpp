#include "core/pretrain/make_model.h"

#include "core/base/hash.h"

namespace slipway {
namespace {

int64_t vocab_size(const Config& config, int64_t of_data) {
  const int64_t asked = config.model.vocab_size;
  if (asked == 0) return of_data;
  if (asked < of_data) {
    throw ConfigError("model.vocab_size is " + std::to_string(asked) + " but the data has ids up to " +
                      std::to_string(of_data - 1) + "; set it to " + std::to_string(of_data) +
                      " or more, or leave it out to take the data's");
  }
  return asked;
}

slw_run_info make_run_info(const Runtime& runtime, int64_t vocab_size_of_data) {
  const Config& config = runtime.config();
  const Mesh& mesh = runtime.mesh;
  const int rank = runtime.context.rank.rank;
  slw_run_info run{};
  run.struct_size = SLW_SIZE_TO(slw_run_info, run_json);
  run.tp_size = mesh.sizes().tp, run.tp_rank = mesh.coordinate("tp", rank);
  run.pp_size = mesh.sizes().pp, run.pp_rank = mesh.coordinate("pp", rank);
  run.cp_size = mesh.sizes().cp, run.cp_rank = mesh.coordinate("cp", rank);
  run.ep_size = mesh.sizes().ep, run.ep_rank = mesh.coordinate("ep", rank);
  run.dp_size = mesh.dp(), run.dp_rank = runtime.dp_rank();
  run.etp_size = mesh.sizes().etp, run.etp_rank = mesh.coordinate("etp", rank);
  run.edp_size = mesh.edp(), run.edp_rank = mesh.coordinate("edp", rank);
  run.vpp_size = 1;
  run.seq_length = config.train.seq_length;
  run.micro_batch_size = config.train.micro_batch_size;
  run.vocab_size = vocab_size(config, vocab_size_of_data);
  const int64_t multiple = config.model.make_vocab_size_divisible_by * mesh.sizes().tp;
  run.padded_vocab_size = (run.vocab_size + multiple - 1) / multiple * multiple;
  run.param_dtype = run.grad_dtype = kFloat32;
  run.device = kCpu;
  run.seed = static_cast<uint64_t>(config.train.seed);
  run.run_json = runtime.plan.resolved_json.c_str();
  return run;
}

// Refuses a layout that the model, or this version, cannot run. Before the first collective of the model.
void check_layout(const Runtime& runtime, const ModelDescription& model) {
  const MeshSizes& sizes = runtime.mesh.sizes();
  struct Need {
    const char* option;
    int size;
    uint32_t capability;
  };
  const Need needs[] = {{"tensor_model_parallel_size", sizes.tp, SLW_MODEL_TP},
                        {"pipeline_model_parallel_size", sizes.pp, SLW_MODEL_PP},
                        {"context_parallel_size", sizes.cp, SLW_MODEL_CP_ZIGZAG},
                        {"expert_model_parallel_size", sizes.ep, SLW_MODEL_EP},
                        {"expert_tensor_parallel_size", sizes.etp, SLW_MODEL_ETP}};
  for (const Need& need : needs) {
    if (need.size == 1) continue;
    const std::string what = "parallel." + std::string(need.option) + " is " + std::to_string(need.size);
    const std::string move = "; set it to 1: the other ranks then become data parallel";
    if ((model.capabilities & need.capability) == 0) {
      throw ConfigError(what + " but model " + runtime.plan.model.name() + " does not support it" + move);
    }
    throw ConfigError(what + "; this version runs data parallel only" + move);
  }
  const int64_t seq_length = runtime.config().train.seq_length;
  if (model.max_seq_length != 0 && seq_length > model.max_seq_length) {
    throw ConfigError("train.seq_length is " + std::to_string(seq_length) + " but model " + runtime.plan.model.name() +
                      " takes at most " + std::to_string(model.max_seq_length));
  }
  if (model.losses.empty()) throw PluginError("model " + runtime.plan.model.name() + " declares no loss");
}

void declare_model(Runtime& runtime, Training& training) {
  const ProviderPlan& chosen = runtime.plan.model;
  training.model = std::make_unique<HostModel>(chosen.component, *runtime.host, chosen.options_json, training.run_info);
  training.description = training.model->describe();
  check_layout(runtime, training.description);
  training.stage = {
      SLW_SIZE_TO(slw_stage, layer_end), 0, 1, 1, 1, 0, static_cast<int32_t>(training.description.num_layers)};
  training.model->declare(training.stage, 0, training.table);
  const TrainConfig& train = runtime.config().train;
  const auto cost = training.model->cost(training.stage, train.micro_batch_size, train.seq_length);
  if (cost) {
    training.flops_per_sample =
        (cost->flops_forward + cost->flops_backward) / static_cast<double>(train.micro_batch_size);
  }
  runtime.host->metrics().declare(training.table.metrics());
}

// Buffers as the data-parallel backend plans them, on every rank alike.
void place_params(Runtime& runtime, Training& training) {
  const ProviderPlan& chosen = runtime.plan.data_parallel;
  training.dp = std::make_unique<HostDp>(chosen.component, *runtime.host, chosen.options_json, training.run_info);
  training.plan = make_plan(*training.dp, training.table);
  const std::string text = training.plan.to_text();
  require_equal_on_all_ranks(runtime, "data-parallel plans", hex64(xxh3_64(text.data(), text.size())));
  training.owned = owned_ranges(training.plan, training.table, runtime.dp_rank());
  training.store = std::make_unique<ParamStore>(training.table, training.plan);
  training.dp->attach(training.store->dp_buffers());
  training.model->bind(training.stage, training.store->views(0));
}

}  // namespace

Vocabulary read_vocabulary(const HostDataset& dataset) {
  const slw_dataset_info info = dataset.info();
  return {info.vocab_size, info.eod_id, info.tokenizer == nullptr ? "" : info.tokenizer};
}

std::unique_ptr<Training> make_model(Runtime& runtime, const Vocabulary& vocabulary) {
  auto training = std::make_unique<Training>();
  training->vocabulary = vocabulary;
  training->run_info = make_run_info(runtime, vocabulary.size);
  declare_model(runtime, *training);
  place_params(runtime, *training);
  return training;
}

}  // namespace slipway
