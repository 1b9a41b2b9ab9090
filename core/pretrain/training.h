// What step 2 makes: the model with its parameters, the optimizer with its state, and how far training has come.
#pragma once

#include <memory>
#include <vector>

#include "core/optim/microbatches.h"
#include "core/optim/schedule.h"
#include "core/optim/updates.h"
#include "core/parallel/param_store.h"
#include "core/parallel/placement.h"
#include "core/parallel/step_runner.h"
#include "core/plugin_host/host_model.h"
#include "core/pretrain/whole_model.h"
#include "core/rng/stream_tracker.h"

namespace slipway {

// How far training has come; stored in every checkpoint.
struct Progress {
  int64_t step = 0;              // steps done, skipped ones included
  int64_t updates = 0;           // steps whose update was applied
  int64_t consumed_samples = 0;  // read, skipped steps included
  int64_t trained_samples = 0;   // of applied steps: what the schedules count
  int64_t tokens = 0;
  int64_t skipped_steps = 0;
  int64_t consumed_valid_samples = 0;
  bool evaluation_due = false;  // after `step`: a stop cut it short, a resume begins with it
  double num_floating_point_operations_so_far = 0;
};

// What the data's ids are.
struct Vocabulary {
  int64_t size = 0;       // ids are in [0, size)
  int64_t eod_id = -1;    // -1: none
  std::string tokenizer;  // name of the plugin that makes them of text; "": unknown
};

struct Training {
  bool has_losses() const { return chunks.back().post_process != 0; }
  // Whether any chunk here reads batches.
  bool reads_data = true;

  // Members are destroyed from the bottom up: what is used by others comes first.
  Vocabulary vocabulary;
  slw_run_info run_info{};
  ModelDescription description;
  WholeModel whole;
  std::vector<slw_stage> chunks;  // of this rank
  ParamTable table;
  DpPlan plan;
  std::vector<OwnedRange> owned;
  std::unique_ptr<ParamStore> store;
  std::unique_ptr<HostModel> model;
  std::unique_ptr<HostDp> dp;
  std::unique_ptr<Updates> updates;
  std::vector<int32_t> shared;             // parameters with a copy on the other end of the pipeline
  std::unique_ptr<StreamTracker> streams;  // of rng=megatron, else nullptr
  std::unique_ptr<StepRunner> runner;
  ScheduleConfig schedule;
  BatchConfig batches;
  double flops_per_sample = 0;  // forward and backward of the whole model; 0: it does not say
  Progress progress;
  std::string data_fingerprint;  // of the checkpoint that was loaded; "" when none was
};

}  // namespace slipway
