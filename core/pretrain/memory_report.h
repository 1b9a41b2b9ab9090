// What the ranks' memory really was, beside what the planner said: memory.json in the run folder and a log line.
#pragma once

#include "core/pretrain/iterators.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

// The peak of activations is counted from here on.
void begin_memory_count(const Runtime& runtime);

// Gathers the counts of all ranks on the first, which writes and logs them. [collective: world]
void report_memory(Runtime& runtime, const Training& training, const Iterators& iterators);

}  // namespace slipway
