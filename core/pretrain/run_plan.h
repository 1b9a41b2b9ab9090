// A run as it was asked for: the checked configuration, the chosen providers with their options, and where it writes.
// Made from manifest and command line by plan_run.cpp; a value.
#pragma once

#include <string>
#include <vector>

#include "core/plugin_host/registry.h"
#include "core/pretrain/config.h"

namespace slipway {

// A chosen provider and its complete options as JSON text.
struct ProviderPlan {
  Component component;
  std::string options_json;

  std::string name() const { return component.get().name; }
};

struct RunPlan {
  Config config;
  ProviderPlan model, data_parallel, data;
  std::vector<ProviderPlan> optimizers;  // the chosen one, then its fallback
  std::string resolved_json;             // manifest.resolved.json
  std::string libtorch_build;
  std::string output_dir;  // "": write nothing
  bool resume = false;
  bool skip_train = false;  // only evaluate

  // The libraries of the chosen providers, each once.
  std::vector<const LoadedLibrary*> libraries() const;
};

}  // namespace slipway
