// rng=megatron: the rank's random streams, initial values drawn from them, and their place in checkpoints.
#pragma once

#include <memory>
#include <string>

#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

// nullptr with rng=invariant. Says once that numbers now depend on the layout.
std::unique_ptr<StreamTracker> make_streams(const Runtime& runtime);

// After every parameter was drawn: the copies of crossing ties become those of the first stage, and with
// data_parallel_random_init all replicas those of the first data-parallel rank. [collective: embd, dp_cp]
void equalize_initial_values(Runtime& runtime, Training& training);

// The streams of all ranks as JSON text, "" with rng=invariant. [collective: world]
std::string gather_streams(Runtime& runtime, const Training& training);

// Goes on with the streams that a checkpoint holds. One of another layout has none for this rank: they begin anew, with
// a warning. Throws CheckpointError for what is damaged.
void restore_streams(const Runtime& runtime, Training& training, const std::string& text);

}  // namespace slipway
