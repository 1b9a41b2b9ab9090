#include "core/pretrain/pipeline.h"

#include <algorithm>

#include "core/base/file.h"
#include "core/base/strings.h"
#include "core/parallel/schedule/transfers.h"
#include "core/parallel/schedule/validate.h"

namespace slipway {
namespace {

constexpr int64_t kMostMicrobatches = 1 << 20;  // as in a file

Schedule schedule_of_file(const std::string& file, const Schedule& wanted) {
  Schedule schedule = schedule_from_json(read_file(file, ExitCode::kUsage), file);
  const auto compare = [&](const char* what, int64_t has, int64_t needs) {
    if (has == needs) return;
    throw ConfigError("parallel.pipeline_schedule: " + file + " is for " + what + " " + std::to_string(has) +
                      ", this run has " + std::to_string(needs) + "; write a table for this run, or change the option");
  };
  compare("pipeline_model_parallel_size", schedule.pp, wanted.pp);
  compare("virtual_pipeline_model_parallel_size", schedule.vpp, wanted.vpp);
  compare("num_microbatches (global_batch_size / micro_batch_size / data parallel size)", schedule.num_microbatches,
          wanted.num_microbatches);
  try {
    validate(schedule);
  } catch (const ConfigError& error) {
    throw ConfigError("parallel.pipeline_schedule: " + file + ": " + error.what());
  }
  return schedule;
}

}  // namespace

Schedule training_schedule(const ParallelConfig& parallel, int chunks_per_rank, int64_t num_microbatches) {
  if (num_microbatches > kMostMicrobatches) {
    throw ConfigError("a step has " + std::to_string(num_microbatches) +
                      " microbatches (global_batch_size / micro_batch_size / data parallel size); at most " +
                      std::to_string(kMostMicrobatches));
  }
  const auto pp = static_cast<int32_t>(parallel.pipeline_model_parallel_size);
  const auto count = static_cast<int32_t>(num_microbatches);
  const auto& file = parallel.pipeline.pipeline_schedule;
  if (file) {
    Schedule wanted;
    wanted.pp = pp, wanted.vpp = chunks_per_rank, wanted.num_microbatches = count;
    return schedule_of_file(*file, wanted);
  }
  if (chunks_per_rank == 1) return one_forward_one_backward(pp, count);
  const int64_t group = parallel.pipeline.microbatch_group_size_per_vp_stage.value_or(pp);
  // A group of more than all microbatches is refused, however large.
  return interleaved(pp, chunks_per_rank, count, static_cast<int32_t>(std::min(group, kMostMicrobatches + 1)));
}

void check_schedules(const ParallelConfig& parallel, int chunks_per_rank, const BatchConfig& batches) {
  const auto check = [&](int64_t global_batch) {
    compile(training_schedule(parallel, chunks_per_rank, global_batch / (batches.micro_batch * batches.data_parallel)));
  };
  check(batches.global_batch);
  if (!batches.rampup) return;
  for (int64_t batch = batches.rampup->start; batch < batches.global_batch; batch += batches.rampup->increment) {
    check(batch);
  }
}

}  // namespace slipway
