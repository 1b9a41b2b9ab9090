// The option table of a component, as the configuration reads it.
#pragma once

#include <vector>

#include "core/config/option.h"
#include "core/plugin_host/registry.h"

namespace slipway {

// Throws PluginError naming the component and the row when the table is malformed.
std::vector<OptionSpec> option_specs(const Component& component);

}  // namespace slipway
