// A plugin library: checked in the file first, then loaded for good (libraries are never unloaded). Any thread may
// read; load on the main thread, before other threads start.
#pragma once

#include <slipway/host.h>

#include <string>
#include <vector>

#include "core/base/reporter.h"

namespace slipway {

// What the file says of itself without running any of it.
struct LibraryFile {
  std::string path;  // absolute
  std::string sha256;
  uint16_t abi_major = 0, abi_minor = 0;
  std::string requires_json;  // "" when it needs nothing
};

// Reads the file. Throws PluginError: not a shared object, no entry symbol, another ABI version, another LibTorch
// build.
LibraryFile inspect_library(const std::string& path, const std::string& libtorch_build);

struct LoadedLibrary {
  LibraryFile file;
  const slw_plugin* plugin;
};

// dlopen with every symbol bound at once, the descriptor checked, `init` called. Loading one file twice gives the same
// library. `reporter` says what is being called, in case it crashes.
const LoadedLibrary& load_library(const LibraryFile& file, Reporter& reporter);

// Throws PluginError when a component lacks a slot that its kind requires, is of unknown kind, or shares a name.
void check_descriptor(const std::string& path, const slw_plugin& plugin);

}  // namespace slipway
