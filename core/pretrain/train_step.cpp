#include "core/pretrain/train_step.h"

#include <cmath>
#include <optional>

#include "core/base/timer.h"
#include "core/optim/clip.h"
#include "core/optim/norm.h"
#include "core/parallel/finalize_gradients.h"
#include "core/pretrain/step_losses.h"

namespace slipway {
namespace {

slw_step_info step_info(const Training& training, const StepBatch& batch, bool applied) {
  return {SLW_SIZE_TO(slw_step_info, stream),
          0,
          training.progress.step,
          training.progress.consumed_samples,
          batch.global_batch,
          static_cast<int32_t>(batch.num_microbatches),
          applied ? 1 : 0,
          training.store->weights_version(),
          {kCpu, nullptr}};
}

// L2 norm of the whole model's gradient, the same on every rank. Names the first gradient that is not finite.
double grad_norm(Runtime& runtime, const Training& training) {
  // Without shards every data-parallel rank has the whole stage's gradient and needs no other.
  const bool is_sharded = !training.plan.shards.empty();
  const std::vector<OwnedRange> counted =
      counted_ranges(training.table, training.owned, runtime.rank_in("tp"), is_sharded ? runtime.rank_in("dp_cp") : 0);
  const GradientMeasure measure =
      sum_of_squares(gradient_spans(*training.store, counted), static_cast<int>(runtime.config().train.cpu_threads));
  if (measure.non_finite_span) {
    const OwnedRange& first = counted[*measure.non_finite_span];
    runtime.context.log->warning("step " + std::to_string(training.progress.step + 1) +
                                 " is skipped: the gradient is not finite, first of parameter " +
                                 training.table.params()[static_cast<size_t>(first.param)].name());
  }
  std::vector<double> total{measure.value};
  all_reduce(is_sharded ? runtime.comm->core() : *runtime.comm->core("tp_pp"), total);
  return std::sqrt(total.front());
}

// Clips and updates; false when the gradient is not finite: nothing changes then.
bool update(Runtime& runtime, Training& training, StepResult& result) {
  const int64_t samples = training.progress.trained_samples;
  result.learning_rate = learning_rate(training.schedule, samples);
  result.weight_decay = weight_decay(training.schedule, samples);
  result.grad_norm = grad_norm(runtime, training);
  const std::optional<double> clip = clip_coefficient(result.grad_norm, runtime.config().train.clip_grad);
  if (!clip) return false;
  training.updates->step(training.schedule, samples, training.progress.updates + 1, *clip);
  training.store->weights_changed();
  training.dp->start_gather();
  // A model that acquires its parameters waits for each as it comes to it.
  if ((training.description.capabilities & SLW_MODEL_ACQUIRES) == 0) training.dp->finish_gather();
  return true;
}

void advance(Training& training, const StepResult& result) {
  Progress& progress = training.progress;
  progress.num_floating_point_operations_so_far += training.flops_per_sample * static_cast<double>(result.global_batch);
  progress.step += 1;
  progress.consumed_samples += result.global_batch;
  progress.tokens += result.tokens;
  if (result.skipped) {
    progress.skipped_steps += 1;
  } else {
    progress.updates += 1;
    progress.trained_samples += result.global_batch;
  }
}

// What the step after this one reads, unless this is the last.
std::optional<StepRange> range_after(const Config& config, const Training& training, const StepBatch& batch) {
  const int64_t consumed = training.progress.consumed_samples + batch.global_batch;
  const auto next = config.train.next_batch(training.batches, consumed);
  if (!next) return std::nullopt;
  return StepRange{consumed, next->num_microbatches};
}

}  // namespace

std::vector<Microbatch> as_microbatches(const std::vector<const HostBatch*>& batches, int64_t seq_length) {
  std::vector<Microbatch> microbatches;
  for (const HostBatch* batch : batches) {
    microbatches.push_back({batch->view(), batch->batch_size(), seq_length, batch->sample_ids().data()});
  }
  return microbatches;
}

bool has_next_step(const Runtime& runtime, const Training& training) {
  return runtime.config().train.next_batch(training.batches, training.progress.consumed_samples).has_value();
}

StepResult train_step(Runtime& runtime, Training& training, Iterators& iterators) {
  const Config& config = runtime.config();
  CollectiveTrace& trace = runtime.comm->trace();
  trace.begin_step(training.progress.step + 1);
  trace.set_phase("data");
  const StepBatch batch = step_batch(training.batches, training.progress.consumed_samples);
  StepResult result;
  result.global_batch = batch.global_batch;
  result.tokens = batch.global_batch * config.train.seq_length;

  result.flops_per_rank =
      training.flops_per_sample * static_cast<double>(batch.global_batch) / runtime.mesh.sizes().world;

  const Timer reading;
  const StepRange range{training.progress.consumed_samples, batch.num_microbatches};
  const auto microbatches = as_microbatches(iterators.train.reader->read(range, range_after(config, training, batch)),
                                            config.train.seq_length);
  result.data_wait_seconds = reading.seconds();

  const StepHeader header = make_header(runtime, training, microbatches);
  training.store->zero_grads();
  training.dp->step_begin();
  training.model->step_begin(step_info(training, batch, true));
  const LossNormalization normalization = loss_normalization(config.train.loss_normalization);
  const LossSums sums = training.runner->train(training.progress.step, microbatches, header, normalization);
  trace.set_phase("gradient reduction");
  training.dp->grad_reduce_finish();
  finalize_gradients(training.table, *training.store, training.owned, training.shared,
                     {runtime.comm->core("tp"), runtime.comm->core("embd")});

  trace.set_phase("update");
  result.skipped = !update(runtime, training, result);
  training.model->step_end(step_info(training, batch, !result.skipped));
  trace.set_phase("end");
  reduce_losses(runtime, training, {header, sums, normalization}, result);
  advance(training, result);
  return result;
}

}  // namespace slipway
