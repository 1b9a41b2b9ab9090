// What the model is told of the run, and which layouts are refused. Pure functions of the plan, the same on every rank
// and for the planner.
#pragma once

#include "core/comm/mesh.h"
#include "core/plugin_host/host_model.h"
#include "core/pretrain/run_plan.h"

namespace slipway {

// Everything but the ranks, which are 0. `vocab_size_of_data`: ids are below. Throws ConfigError when model.vocab_size
// is too small for them.
slw_run_info make_run_info(const RunPlan& plan, const Mesh& mesh, int64_t vocab_size_of_data);

// Refuses a layout that the model, or this version, cannot run: the rule, the numbers, what to change. Before the first
// collective of the model.
void check_layout(const Config& config, const std::string& model_name, const ModelDescription& model);

}  // namespace slipway
