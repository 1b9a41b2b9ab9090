// Ranks that another launcher started, each by itself, may have been given different things.
#pragma once

#include "core/pretrain/runtime.h"

namespace slipway {

// Compares over all ranks what was resolved from manifest and command line, and id, version and sha256 of the plugins;
// where a plugin's file lies may differ. Throws on every rank alike, naming the first difference and both values: a
// PluginError for a plugin, else a ConfigError. [collective: world]
void require_same_run(Runtime& runtime);

}  // namespace slipway
