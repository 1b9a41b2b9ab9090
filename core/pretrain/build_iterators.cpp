#include "core/base/strings.h"
#include "core/pretrain/make_dataset.h"
#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

struct SplitRequest {
  int32_t split;
  int64_t num_samples;
  std::string purpose;
};

bool has_part(const Config& config, int32_t split) {
  const std::vector<double> bounds = config.data.split_bounds();
  return bounds[static_cast<size_t>(split)] < bounds[static_cast<size_t>(split) + 1];
}

// Opens one split. [collective: world]
DataSplit open_split(Runtime& runtime, const Training& training, const SplitRequest& request) {
  const Config& config = runtime.config();
  const std::vector<double> bounds = config.data.split_bounds();
  slw_build_args args{};
  args.struct_size = SLW_SIZE_TO(slw_build_args, num_samples);
  args.split = request.split;
  args.split_begin = bounds[static_cast<size_t>(request.split)];
  args.split_end = bounds[static_cast<size_t>(request.split) + 1];
  args.num_samples = request.num_samples;
  if (!has_part(config, request.split)) {
    throw ConfigError("data.split is " + in_quotes(config.data.split) + ", which leaves nothing for " +
                      request.purpose + "; give that part a weight");
  }
  DataSplit split;
  split.dataset = make_dataset(runtime);
  if (runtime.context.rank.local_rank == 0) split.dataset->prepare(args);
  runtime.comm->core().barrier();
  split.dataset->build(args);
  const SamplerGrid grid{config.train.micro_batch_size, runtime.mesh.dp(), runtime.dp_rank()};
  const auto use = training.reads_data ? BatchUse::kFields : BatchUse::kOrdinals;
  split.reader = std::make_unique<StepReader>(*split.dataset, grid, config.data.num_workers, use);
  split.reader->require_samples(request.num_samples, request.purpose);
  return split;
}

void check_fingerprint(Runtime& runtime, const Training& training, const std::string& fingerprint) {
  require_equal_on_all_ranks(runtime, "data", fingerprint);
  if (training.data_fingerprint.empty() || training.data_fingerprint == fingerprint) return;
  throw DataError("the data is not what this run was trained on so far (" + training.data_fingerprint + ", now " +
                  fingerprint + "); restore the old files, or start a new run");
}

void open_evaluation(Runtime& runtime, const Training& training, Iterators& iterators) {
  const TrainConfig& train = runtime.config().train;
  const int64_t each = *train.eval.eval_iters * *train.global_batch_size;
  if (each == 0) return;
  // Those still to come, and the one after training.
  const auto due_at = [&](int64_t step) { return train.eval.eval_interval > 0 ? step / train.eval.eval_interval : 0; };
  const int64_t made_up_for = training.progress.evaluation_due ? 1 : 0;
  const int64_t evaluations = due_at(train.length().steps) - due_at(training.progress.step) + made_up_for + 1;
  const int64_t valid_samples = training.progress.consumed_valid_samples + evaluations * each;
  if (train.eval.eval_interval > 0 || has_part(runtime.config(), SLW_SPLIT_VALID)) {
    iterators.valid = open_split(runtime, training, {SLW_SPLIT_VALID, valid_samples, "validation"});
  }
  if (has_part(runtime.config(), SLW_SPLIT_TEST)) {
    iterators.test = open_split(runtime, training, {SLW_SPLIT_TEST, each, "the test"});
  }
}

void report(Runtime& runtime, const DataSplit& train, int64_t num_samples) {
  if (!runtime.is_first_rank()) return;
  const slw_dataset_info info = train.dataset->info();
  runtime.context.log->info("data " + runtime.plan.data.name() + ": " + std::to_string(info.size) + " samples of " +
                            std::to_string(runtime.config().train.seq_length) + " tokens, " +
                            human_count(static_cast<uint64_t>(std::max<int64_t>(0, info.tokens_per_epoch))) +
                            " tokens an epoch, training reads " + std::to_string(num_samples) + " samples");
}

}  // namespace

std::unique_ptr<Iterators> build_iterators(Runtime& runtime, const Training& training) {
  const int64_t num_samples = runtime.config().train.length().samples;
  auto iterators = std::make_unique<Iterators>();
  iterators->train = open_split(runtime, training, {SLW_SPLIT_TRAIN, num_samples, "training"});
  iterators->fingerprint = iterators->train.dataset->fingerprint();
  check_fingerprint(runtime, training, iterators->fingerprint);
  open_evaluation(runtime, training, *iterators);
  report(runtime, iterators->train, num_samples);
  return iterators;
}

}  // namespace slipway
