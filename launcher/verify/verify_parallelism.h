// `slipway verify-parallelism`: proves for a manifest that the numbers do not depend on the layout.
#pragma once

#include <string>
#include <vector>

#include "launcher/launch.h"

namespace slipway {

// Runs the manifest on one rank, then in each layout, and compares. Exit code 1 when one is beyond the tolerances or is
// refused; the run's own code when it fails otherwise.
Outcome verify_parallelism(const Worker& worker, const std::vector<std::string>& arguments);

}  // namespace slipway
