// From a checkpoint to a plan that runs its model in one process.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/reporter.h"
#include "core/checkpoint/checkpoint.h"
#include "core/pretrain/run_plan.h"
#include "core/pretrain/training.h"

namespace slipway {

// The checkpoint that `path` means: itself, or the newest one of a run folder. Throws CheckpointError when there is
// none.
std::filesystem::path find_checkpoint(const std::filesystem::path& path, Log& log);

struct CheckpointPlan {
  RunPlan plan;  // of one rank, without output folder
  Vocabulary vocabulary;
  uint32_t table_version = 0;
};

// The plan of the run that wrote it. Plugins are loaded from where they were then, or found by name when they are there
// no longer; one that has changed since is used, with a warning. `plugin_flags`: --plugin and --plugin-path as given.
CheckpointPlan plan_of_checkpoint(const CheckpointReader& reader, const std::vector<std::string>& plugin_flags,
                                  Reporter& reporter, Log& log);

}  // namespace slipway
