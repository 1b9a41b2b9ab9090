// What step 3 makes: the training data, ready at the restored position.
#pragma once

#include <memory>
#include <string>

#include "core/data/step_reader.h"
#include "core/plugin_host/host_dataset.h"

namespace slipway {

struct Iterators {
  std::unique_ptr<HostDataset> train_dataset;
  std::unique_ptr<StepReader> train;
  std::string fingerprint;
};

}  // namespace slipway
