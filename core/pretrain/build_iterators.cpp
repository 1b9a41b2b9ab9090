#include "core/base/strings.h"
#include "core/pretrain/make_dataset.h"
#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

slw_build_args train_split(const Config& config) {
  slw_build_args args{};
  args.struct_size = SLW_SIZE_TO(slw_build_args, num_samples);
  args.split = SLW_SPLIT_TRAIN;
  const std::vector<double> bounds = config.data.split_bounds();
  args.split_begin = bounds[0];
  args.split_end = bounds[1];
  args.num_samples = config.train.total_samples();
  return args;
}

}  // namespace

std::unique_ptr<Iterators> build_iterators(Runtime& runtime, const Training& training) {
  const Config& config = runtime.config();
  auto iterators = std::make_unique<Iterators>();
  iterators->train_dataset = make_dataset(runtime);
  const slw_build_args split = train_split(config);
  if (runtime.context.rank.local_rank == 0) iterators->train_dataset->prepare(split);
  runtime.comm->core().barrier();
  iterators->train_dataset->build(split);

  iterators->fingerprint = iterators->train_dataset->fingerprint();
  require_equal_on_all_ranks(runtime, "data", iterators->fingerprint);
  if (!training.data_fingerprint.empty() && training.data_fingerprint != iterators->fingerprint) {
    throw DataError("the data is not what this run was trained on so far (" + training.data_fingerprint + ", now " +
                    iterators->fingerprint + "); restore the old files, or start a new run");
  }
  const SamplerGrid grid{config.train.micro_batch_size, runtime.mesh.dp(), runtime.dp_rank()};
  iterators->train = std::make_unique<StepReader>(*iterators->train_dataset, grid);
  iterators->train->require_samples(split.num_samples, "training");

  const slw_dataset_info info = iterators->train_dataset->info();
  if (runtime.is_first_rank()) {
    runtime.context.log->info("data " + runtime.plan.data.name() + ": " + std::to_string(info.size) + " samples of " +
                              std::to_string(config.train.seq_length) + " tokens, " +
                              human_count(static_cast<uint64_t>(std::max<int64_t>(0, info.tokens_per_epoch))) +
                              " tokens an epoch, training reads " + std::to_string(split.num_samples) + " samples");
  }
  return iterators;
}

}  // namespace slipway
