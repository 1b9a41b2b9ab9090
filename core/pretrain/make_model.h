// The model half of step 2, which generating needs as well.
#pragma once

#include <memory>

#include "core/plugin_host/host_dataset.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

Vocabulary read_vocabulary(const HostDataset& dataset);

// The model described, its layout checked, its parameters declared, placed and bound, but not filled; no optimizer.
// [collective: world]
std::unique_ptr<Training> make_model(Runtime& runtime, const Vocabulary& vocabulary);

}  // namespace slipway
