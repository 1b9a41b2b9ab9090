#include "core/base/strings.h"
#include "core/params/init.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/make_dataset.h"
#include "core/pretrain/make_model.h"
#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

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
  auto training = make_model(runtime, read_vocabulary(*make_dataset(runtime)));
  training->batches = config.train.batches(runtime.mesh.dp());
  training->schedule = config.train.schedule();
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
