#include <filesystem>
#include <thread>

#include "core/base/file.h"
#include "core/base/strings.h"
#include "core/comm/compute_threads.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/run_reports.h"
#include "core/pretrain/same_run.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

std::chrono::milliseconds timeout(const ParallelConfig& parallel) {
  return std::chrono::milliseconds(static_cast<int64_t>(parallel.distributed_timeout_minutes * 60'000));
}

std::string layout_text(const Mesh& mesh) {
  const MeshSizes& sizes = mesh.sizes();
  std::string text;
  if (sizes.tp > 1) text += "tensor parallel " + std::to_string(sizes.tp) + ", ";
  if (sizes.pp > 1) text += "pipeline parallel " + std::to_string(sizes.pp) + ", ";
  return text + "data parallel " + std::to_string(mesh.dp());
}

void refuse_used_folder(const std::string& root) {
  std::error_code ignored;
  if (fs::exists(root, ignored) && !fs::is_directory(root, ignored)) {
    throw ConfigError("output folder " + root + " is a file; give another --output-dir");
  }
  if (fs::exists(root, ignored) && !fs::is_empty(root, ignored)) {
    throw ConfigError("output folder " + root +
                      " is not empty; give another --output-dir, or --resume to go on with the run in it");
  }
}

// Refuses a folder that cannot become, or is not, this run's. Nothing is written yet.
void check_folder(Runtime& runtime) {
  if (!runtime.folder.exists()) return;
  on_first_rank(runtime, [&] {
    const std::string& root = runtime.folder.root;
    if (!runtime.plan.resume) refuse_used_folder(root);
    if (runtime.plan.resume && !fs::is_directory(root)) {
      throw ConfigError("--resume: there is no run in " + root + "; leave --resume out to start one");
    }
  });
}

}  // namespace

MeshSizes mesh_sizes(const ParallelConfig& parallel, int world) {
  if (parallel.use_tp_pp_dp_mapping && parallel.order != ParallelConfig{}.order) {
    throw ConfigError("parallel.use_tp_pp_dp_mapping means the order tp-cp-ep-pp-dp, and parallel.order is " +
                      parallel.order + "; give one of the two");
  }
  MeshSizes sizes;
  sizes.world = world;
  sizes.tp = static_cast<int>(parallel.tensor_model_parallel_size);
  sizes.pp = static_cast<int>(parallel.pipeline_model_parallel_size);
  sizes.cp = static_cast<int>(parallel.context_parallel_size);
  sizes.ep = static_cast<int>(parallel.expert_model_parallel_size);
  sizes.etp = static_cast<int>(parallel.expert_tensor_parallel_size);
  sizes.order = parallel.use_tp_pp_dp_mapping ? "tp-cp-ep-pp-dp" : parallel.order;
  return sizes;
}

Runtime::Runtime(const RunPlan& run_plan, const LaunchContext& launch, Mesh made)
    : plan(run_plan), context(launch), mesh(std::move(made)), folder{run_plan.output_dir} {}

Runtime::~Runtime() = default;

void on_every_rank(Runtime& runtime, const std::function<void()>& body) {
  std::string outcome = "0";
  try {
    body();
  } catch (const Error& error) {
    outcome = std::to_string(static_cast<int>(error.code())) + " " + error.what();
  }
  for (const std::string& other : all_gather_text(runtime.comm->core(), outcome)) {
    const int code = std::stoi(other);
    if (code != 0) throw Error(static_cast<ExitCode>(code), other.substr(other.find(' ') + 1));
  }
}

void on_first_rank(Runtime& runtime, const std::function<void()>& body) {
  on_every_rank(runtime, [&] {
    if (runtime.is_first_rank()) body();
  });
}

void require_equal_on_all_ranks(Runtime& runtime, const std::string& what, const std::string& text) {
  const std::vector<std::string> all = all_gather_text(runtime.comm->core(), text);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] != all.front()) {
      throw ConfigError("rank 0 and rank " + std::to_string(rank) + " have different " + what + " (" + all.front() +
                        " and " + all[rank] + "); start every rank with the same manifest, options and plugin files");
    }
  }
}

void open_run_folder(Runtime& runtime, const Progress& restored) {
  on_first_rank(runtime, [&] {
    if (runtime.folder.exists()) {
      make_dirs(runtime.folder.root, ExitCode::kUsage);
      // An evaluation of an older run does not change what that run was.
      const bool is_visit = runtime.plan.skip_train && runtime.plan.resume;
      if (!is_visit) write_file_atomic(runtime.folder.manifest(), runtime.plan.resolved_json + "\n", ExitCode::kUsage);
      runtime.context.log->add_file(runtime.folder.log());
    }
    runtime.reports = std::make_unique<RunReports>(runtime, restored);
  });
}

std::unique_ptr<Runtime> initialize(const RunPlan& plan, const LaunchContext& context) {
  const Config& config = plan.config;
  auto runtime = std::make_unique<Runtime>(plan, context, Mesh(mesh_sizes(config.parallel, context.rank.world_size)));
  check_batches(config.train.batches(runtime->mesh.dp()));
  check_schedule(config.train.schedule());

  set_compute_threads(static_cast<int>(config.train.cpu_threads));
  runtime->comm = std::make_unique<Communicator>(context.rank, runtime->mesh, timeout(config.parallel), DeviceChoice{},
                                                 context.watch);
  require_same_run(*runtime);
  runtime->host =
      std::make_unique<Host>(Host::Services{context.log, runtime->comm.get(), static_cast<uint64_t>(config.train.seed),
                                            static_cast<int>(config.train.cpu_threads), context.stop});
  check_folder(*runtime);
  if (runtime->is_first_rank()) {
    context.log->info(std::to_string(context.rank.world_size) + " rank(s), " + layout_text(runtime->mesh) + ", " +
                      std::to_string(config.train.cpu_threads) + " compute thread(s) each");
  }
  return runtime;
}

}  // namespace slipway
