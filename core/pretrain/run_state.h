// state.json of a checkpoint: counters, the resolved manifest, plugins, layout.
#pragma once

#include <string>

#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

// `streams`: of all ranks (random_streams.h), or "".
std::string run_state_text(const Runtime& runtime, const Training& training, const std::string& data_fingerprint,
                           const std::string& streams);

struct RestoredState {
  Progress progress;
  std::string data_fingerprint, streams;
};
// Reads it back and compares it with this run: throws CheckpointError, naming both values, when the model or the seed
// differ; other differences are logged as a table of stored and used values. `file` is for messages.
RestoredState read_run_state(const std::string& text, const std::string& file, const Runtime& runtime,
                             const Training& training);

}  // namespace slipway
