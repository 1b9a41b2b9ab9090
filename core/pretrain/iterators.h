// What step 3 makes: the data of each split that the run reads, ready at the restored position.
#pragma once

#include <memory>
#include <string>

#include "core/data/step_reader.h"
#include "core/plugin_host/host_dataset.h"

namespace slipway {

struct DataSplit {
  std::unique_ptr<HostDataset> dataset;
  std::unique_ptr<StepReader> reader;  // nullptr: this split is not read
};

struct Iterators {
  DataSplit train, valid, test;
  std::string fingerprint;
};

}  // namespace slipway
