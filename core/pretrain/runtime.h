// What step 1 makes: a checked configuration, the mesh with its groups, threads, plugins, log and run folder. One per
// rank; several ranks may live in one process. Destroyed in step 5, after everything that was made with it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/base/timer.h"
#include "core/comm/communicator.h"
#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"
#include "core/pretrain/run_plan.h"

namespace slipway {

// What the program around the run gives: nothing of it is global.
struct LaunchContext {
  RankEnvironment rank;
  Log* log = nullptr;
  std::function<void(const char* step)> on_step;  // told which of the five begins
  const std::atomic<bool>* stop = nullptr;        // set when the run is asked to save and end
  CommWatch watch = {};                           // of the groups
  // Told of an error that ends the run while runtime, training and data still stand; may end the process.
  std::function<void(const std::exception&)> on_failure = {};

  bool wants_stop() const { return stop != nullptr && stop->load(); }
  void enter(const char* step) const {
    if (on_step) on_step(step);
  }
  void fail(const std::exception& error) const {
    if (on_failure) on_failure(error);
  }
};

// Where a run keeps its files; paths below the output folder. Empty root: the run writes nothing.
struct RunFolder {
  std::string root;

  bool exists() const { return !root.empty(); }
  std::string metrics() const { return root + "/metrics.jsonl"; }
  std::string log() const { return root + "/log.txt"; }
  std::string memory() const { return root + "/memory.json"; }
  std::string manifest() const { return root + "/manifest.resolved.json"; }
  std::string checkpoints() const { return root + "/checkpoints"; }
};

class RunReports;
struct Progress;

struct Runtime {
  Runtime(const RunPlan& run_plan, const LaunchContext& launch, Mesh made);
  ~Runtime();

  const Config& config() const { return plan.config; }
  bool is_first_rank() const { return context.rank.rank == 0; }
  int rank_in(const char* group) const { return mesh.coordinate(group, context.rank.rank); }
  int dp_rank() const { return rank_in("dp"); }

  RunPlan plan;
  LaunchContext context;
  Mesh mesh;
  RunFolder folder;
  std::unique_ptr<Communicator> comm;
  std::unique_ptr<Host> host;
  std::unique_ptr<RunReports> reports;  // once the run folder is open
  Timer since_start;
};

// The grid that the options ask for.
MeshSizes mesh_sizes(const ParallelConfig& parallel, int world);

// Runs `body` on every rank; what any of them throws, the lowest rank's first, is thrown on every rank alike. For work
// that may fail on one rank alone and calls no collectives. [collective: world]
void on_every_rank(Runtime& runtime, const std::function<void()>& body);
// The same on rank 0 only; what it throws is thrown on every rank alike. [collective: world]
void on_first_rank(Runtime& runtime, const std::function<void()>& body);

// Makes the run folder with the resolved manifest, the log and the reports, which go on after `restored`. Called when
// training begins: a run that is refused before leaves nothing behind. [collective: world]
void open_run_folder(Runtime& runtime, const Progress& restored);

// Throws ConfigError on every rank when the ranks hold different texts: `what` says of what. [collective: world]
void require_equal_on_all_ranks(Runtime& runtime, const std::string& what, const std::string& text);

}  // namespace slipway
