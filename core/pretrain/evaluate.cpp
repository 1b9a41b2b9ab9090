#include "core/pretrain/evaluate.h"

#include "core/base/progress_bar.h"
#include "core/pretrain/run_reports.h"

namespace slipway {
namespace {

// Sums and counts of losses over all ranks and batches, and whether anybody asked to stop.
struct Totals {
  std::vector<double> sums, counts;
  bool stops = false;

  explicit Totals(size_t num_losses) : sums(num_losses), counts(num_losses) {}
};

// Adds one global batch; one reduction for all of it. Tensor-parallel ranks all have the loss, so sums and counts grow
// alike. [collective: world]
void add_batch(Runtime& runtime, Training& training, const std::vector<const HostBatch*>& batches, Totals& totals) {
  const std::vector<LossDeclaration>& losses = training.description.losses;
  const auto microbatches = as_microbatches(batches, runtime.config().train.seq_length);
  const LossSums sums = training.runner->evaluate(training.progress.step, microbatches);
  std::vector<double> values(2 * losses.size() + 1, 0.0);
  if (training.has_losses()) {
    const StepHeader header = count_losses(losses, microbatches);
    for (size_t i = 0; i < losses.size(); ++i) {
      for (const std::vector<double>& of_microbatch : sums) values[i] += of_microbatch[i];
      values[losses.size() + i] = header.totals[i];
    }
  }
  values.back() = runtime.context.wants_stop() ? 1 : 0;
  all_reduce(runtime.comm->core(), values);
  for (size_t i = 0; i < losses.size(); ++i) {
    totals.sums[i] += values[i];
    totals.counts[i] += values[losses.size() + i];
  }
  totals.stops = values.back() > 0;
}

EvalResult result_of(const std::vector<LossDeclaration>& losses, const Totals& totals, int32_t split) {
  EvalResult result;
  result.split = split;
  for (size_t i = 0; i < losses.size(); ++i) {
    const double loss = totals.sums[i] / (totals.counts[i] > 0 ? totals.counts[i] : 1.0);
    result.losses[losses[i].name] = loss;
    if (!losses[i].injected) result.loss += losses[i].weight * loss;
  }
  return result;
}

}  // namespace

std::string split_name(int32_t split) { return split == SLW_SPLIT_TEST ? "test" : "validation"; }

std::optional<EvalResult> evaluate(Runtime& runtime, Training& training, Iterators& iterators, int32_t split,
                                   int64_t consumed) {
  const TrainConfig& train = runtime.config().train;
  const int64_t batches = *train.eval.eval_iters, batch = *train.global_batch_size;
  const int64_t num_microbatches = batch / (train.micro_batch_size * runtime.mesh.dp());
  StepReader& reader = *(split == SLW_SPLIT_TEST ? iterators.test : iterators.valid).reader;
  runtime.comm->trace().set_phase("evaluation");
  ProgressBar bar(runtime.is_first_rank() ? runtime.context.log : nullptr, split_name(split), batches);
  Totals totals(training.description.losses.size());
  for (int64_t i = 0; i < batches && !totals.stops; ++i) {
    const StepRange now{consumed + i * batch, num_microbatches};
    const StepRange next{now.consumed + batch, num_microbatches};
    add_batch(runtime, training, reader.read(now, i + 1 < batches ? std::optional(next) : std::nullopt), totals);
    bar.advance();
  }
  runtime.host->metrics().take();  // what the model deposited belongs to no step
  if (totals.stops) return std::nullopt;
  return result_of(training.description.losses, totals, split);
}

void evaluate_validation(Runtime& runtime, Training& training, Iterators& iterators) {
  const TrainConfig& train = runtime.config().train;
  Progress& progress = training.progress;
  const auto result = evaluate(runtime, training, iterators, SLW_SPLIT_VALID, progress.consumed_valid_samples);
  progress.evaluation_due = !result;
  if (!result) return;
  progress.consumed_valid_samples += *train.eval.eval_iters * *train.global_batch_size;
  if (runtime.reports) runtime.reports->evaluation(training, *result, false);
}

bool evaluate_finally(Runtime& runtime, Training& training, Iterators& iterators) {
  for (const int32_t split : {SLW_SPLIT_VALID, SLW_SPLIT_TEST}) {
    const DataSplit& data = split == SLW_SPLIT_TEST ? iterators.test : iterators.valid;
    if (!data.reader) continue;
    const int64_t consumed = split == SLW_SPLIT_TEST ? 0 : training.progress.consumed_valid_samples;
    const auto result = evaluate(runtime, training, iterators, split, consumed);
    if (!result) return false;
    if (runtime.reports) runtime.reports->evaluation(training, *result, true);
  }
  return true;
}

}  // namespace slipway
