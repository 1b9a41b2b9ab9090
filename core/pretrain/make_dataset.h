// The run's dataset, not built yet: enough for its vocabulary.
#pragma once

#include <memory>

#include "core/plugin_host/host_dataset.h"
#include "core/pretrain/runtime.h"

namespace slipway {

std::unique_ptr<HostDataset> make_dataset(const RunPlan& plan, const Host& host);
std::unique_ptr<HostDataset> make_dataset(const Runtime& runtime);

}  // namespace slipway
