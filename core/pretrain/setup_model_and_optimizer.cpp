#include "core/base/hash.h"
#include "core/base/strings.h"
#include "core/params/init.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/make_dataset.h"
#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

int64_t vocab_size(const Config& config, const slw_dataset_info& info) {
  const int64_t asked = config.model.vocab_size;
  if (asked == 0) return info.vocab_size;
  if (asked < info.vocab_size) {
    throw ConfigError("model.vocab_size is " + std::to_string(asked) + " but the data has ids up to " +
                      std::to_string(info.vocab_size - 1) + "; set it to " + std::to_string(info.vocab_size) +
                      " or more, or leave it out to take the data's");
  }
  return asked;
}

slw_run_info make_run_info(const Runtime& runtime, const slw_dataset_info& data) {
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
  run.vocab_size = vocab_size(config, data);
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

// Every parameter by its declared rule, in this rank's layout.
void initialize_params(Training& training, uint64_t seed) {
  for (const Param& param : training.table.params()) {
    const std::vector<int64_t> origin(param.local_shape.size(), 0);
    float* values = training.store->data(param.index);
    if (param.decl().init != SLW_INIT_CUSTOM) {
      initialize_slice(*param.declaration, seed, {origin, param.local_shape, values});
      continue;
    }
    std::vector<int64_t> shape = param.local_shape, strides = contiguous_strides(shape);
    slw_tensor local{values, kCpu, static_cast<int32_t>(shape.size()), kFloat32, shape.data(), strides.data(), 0};
    training.model->init_param(param.uses.front().index, local, origin, init_key(*param.declaration, seed));
  }
  training.store->weights_changed();
}

void make_model(Runtime& runtime, Training& training) {
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

void make_optimizer(Runtime& runtime, Training& training) {
  std::vector<std::unique_ptr<HostOptimizer>> chain;
  for (const ProviderPlan& chosen : runtime.plan.optimizers) {
    chain.push_back(
        std::make_unique<HostOptimizer>(chosen.component, *runtime.host, chosen.options_json, training.run_info));
  }
  std::vector<UpdateRange> ranges;
  for (const OwnedRange& owned : training.owned) {
    const Param& param = training.table.params()[static_cast<size_t>(owned.param)];
    ranges.push_back({&param, owned.begin, owned.end, training.store->data(owned.param) + owned.begin,
                      training.store->grad(owned.param) + owned.begin});
  }
  training.updates = std::make_unique<Updates>(std::move(chain), ranges);
}

}  // namespace

std::unique_ptr<Training> setup_model_and_optimizer(Runtime& runtime) {
  const Config& config = runtime.config();
  auto training = std::make_unique<Training>();
  training->run_info = make_run_info(runtime, make_dataset(runtime)->info());
  training->batches = config.train.batches(runtime.mesh.dp());
  training->schedule = config.train.schedule();

  make_model(runtime, *training);
  place_params(runtime, *training);
  make_optimizer(runtime, *training);
  training->runner = std::make_unique<ForwardBackward>(
      ForwardBackward::Parts{*training->model, *training->dp, training->table, *training->store}, training->stage,
      training->description.losses);
  if (!runtime.plan.resume || !load_newest_checkpoint(runtime, *training)) {
    initialize_params(*training, static_cast<uint64_t>(config.train.seed));
  }
  if (!runtime.is_first_rank()) return training;
  runtime.context.log->info(
      "model " + runtime.plan.model.name() + ": " +
      human_count(static_cast<uint64_t>(training->table.num_logical_elements())) + " parameters in " +
      std::to_string(training->table.params().size()) + " tensors, " +
      human_bytes(static_cast<uint64_t>(training->store->bytes() + training->updates->state_bytes())) +
      " with gradients and optimizer state");
  return training;
}

}  // namespace slipway
