// What of a run goes into a checkpoint and comes back: parameters and optimizer slots under their global names,
// counters, the resolved manifest, plugin versions, the data's fingerprint. [collective: world]
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "core/pretrain/iterators.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

// Writes checkpoints/step_<training.progress.step> below the run folder; nothing when the run has no folder.
void save_checkpoint(Runtime& runtime, const Training& training, const Iterators& iterators);

// Fills parameters, optimizer state and progress from the newest checkpoint of the run folder. False: there is none.
// Throws CheckpointError when it does not fit this run, naming both values.
bool load_newest_checkpoint(Runtime& runtime, Training& training);

// Fills the parameters alone; optimizer state in the checkpoint is passed over. Throws CheckpointError for a parameter
// that is missing or has another shape.
void load_parameters(Runtime& runtime, const CheckpointReader& reader, Training& training);

}  // namespace slipway
