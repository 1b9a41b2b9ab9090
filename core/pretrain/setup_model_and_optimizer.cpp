#include "core/base/strings.h"
#include "core/params/init.h"
#include "core/params/init_streams.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/make_dataset.h"
#include "core/pretrain/make_model.h"
#include "core/pretrain/pipeline.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/random_streams.h"

namespace slipway {
namespace {

// Block by block: the model fills what it is told the global place of.
void initialize_custom(Training& training, const Param& param, uint64_t seed, float* values) {
  std::vector<int64_t> strides = contiguous_strides(param.local.shape);
  for (const LocalBlock& block : param.local.blocks) {
    int64_t first = 0;
    for (size_t d = 0; d < strides.size(); ++d) first += block.local_offset[d] * strides[d];
    std::vector<int64_t> shape = block.shape;
    slw_tensor local{values + first, kCpu, static_cast<int32_t>(shape.size()), kFloat32, shape.data(),
                     strides.data(), 0};
    training.model->init_param(param.uses.front().index, local, block.global_offset,
                               init_key(*param.declaration, seed));
  }
}

// Every parameter by its declared rule, in this rank's layout.
void initialize_params(Training& training, uint64_t seed) {
  for (const Param& param : training.table.params()) {
    float* values = training.store->data(param.index);
    if (param.decl().init == SLW_INIT_CUSTOM) {
      initialize_custom(training, param, seed, values);
    } else if (training.streams) {
      initialize_from_streams(param, *training.streams, values);
    } else {
      initialize_local(param, seed, values);
    }
  }
  training.store->weights_changed();
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

bool acquires(const Training& training) { return (training.description.capabilities & SLW_MODEL_ACQUIRES) != 0; }

std::unique_ptr<StepRunner> make_runner(const Runtime& runtime, const Training& training) {
  const ParallelConfig& parallel = runtime.config().parallel;
  const int pp = training.whole.pp, chunks = training.whole.chunks_per_rank;
  PipelineSeat seat;
  seat.rank = runtime.rank_in("pp");
  seat.chunks = training.chunks;
  seat.group = runtime.comm->core("pp");
  seat.recomputes = parallel.pipeline.recomputes();
  seat.schedule = [parallel, chunks](int64_t m) { return training_schedule(parallel, chunks, m); };
  seat.forward_only = [pp, chunks](int64_t m) { return forward_only(pp, chunks, static_cast<int32_t>(m)); };
  const StepParts parts{*training.model,    *training.dp,           training.table,        *training.store,
                        acquires(training), &runtime.comm->trace(), training.streams.get()};
  return std::make_unique<StepRunner>(parts, std::move(seat), training.description.losses);
}

}  // namespace

std::unique_ptr<Training> setup_model_and_optimizer(Runtime& runtime) {
  const Config& config = runtime.config();
  auto training = make_model(runtime, read_vocabulary(*make_dataset(runtime)));
  training->batches = config.train.batches(runtime.mesh.dp());
  training->schedule = config.train.schedule();
  make_optimizer(runtime, *training);
  training->streams = make_streams(runtime);
  training->runner = make_runner(runtime, *training);
  if (!runtime.plan.resume || !load_newest_checkpoint(runtime, *training)) {
    initialize_params(*training, static_cast<uint64_t>(config.train.seed));
    if (training->streams) equalize_initial_values(runtime, *training);
  }
  if (!runtime.is_first_rank()) return training;
  runtime.context.log->info(
      "model " + runtime.plan.model.name() + ": " +
      human_count(static_cast<uint64_t>(training->whole.table.num_logical_elements())) + " parameters in " +
      std::to_string(training->whole.table.params().size()) + " tensors, " +
      (runtime.context.rank.world_size > 1 ? "this rank " : "") +
      human_bytes(static_cast<uint64_t>(training->store->param_bytes() + training->store->grad_bytes() +
                                        training->updates->state_bytes())) +
      " with gradients and optimizer state");
  return training;
}

}  // namespace slipway
