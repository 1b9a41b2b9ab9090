// What `slipway verify-parallelism` was asked for, and the command line of each of its runs. Values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/flags.h"
#include "launcher/verify/layout.h"

namespace slipway {

struct VerifyRequest {
  std::vector<Layout> layouts;
  int64_t steps = 10;
  bool as_json = false;
  std::string output_dir;               // "": a temporary folder
  int64_t global_batch = 1;             // of every run
  std::vector<FlagArgument> passed_on;  // flags for the runs, --manifest among them
};

// Reads the manifest as well, for its batch sizes: the global batch is the one given, else the largest that a layout
// would take by itself. Throws ConfigError.
VerifyRequest parse_verify_request(const std::vector<std::string>& arguments);

// The arguments of `slipway-worker train` for one layout. The run ends after `steps` steps of the schedule that the
// manifest has, with checkpoints of step 0 and of the last. The layout's flags win over those passed on.
std::vector<std::string> run_arguments(const VerifyRequest& request, const Layout& layout, const std::string& folder);

}  // namespace slipway
