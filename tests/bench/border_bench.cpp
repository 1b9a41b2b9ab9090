// What the plugin border costs: every call that a step of the demo model makes across it is timed with plugins that do
// nothing, through the same wrappers, hooks, checks and structs, and set against a measured step. Prints a table; the
// exit code is 1 when the border takes 1 % or more.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/timer.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/train_step.h"

namespace slipway {
namespace {

template <class... Args>
slw_status nothing(Args...) {
  return SLW_OK;
}
template <class... Args>
void no_return(Args...) {}

// Vtables whose calls return at once.
slw_model_vtable model_table() {
  slw_model_vtable t{};
  t.struct_size = SLW_SIZE_TO(slw_model_vtable, step_end);
  t.create = nothing;
  t.destroy = no_return;
  t.forward = nothing;
  t.backward = nothing;
  t.step_begin = nothing;
  t.step_end = nothing;
  return t;
}
slw_dp_vtable dp_table() {
  slw_dp_vtable t{};
  t.struct_size = SLW_SIZE_TO(slw_dp_vtable, unit_release);
  t.create = nothing;
  t.destroy = no_return;
  t.step_begin = nothing;
  t.grad_ready = nothing;
  t.grad_reduce_finish = nothing;
  t.param_gather_start = nothing;
  t.param_gather_wait = nothing;
  return t;
}
slw_optimizer_vtable optimizer_table() {
  slw_optimizer_vtable t{};
  t.struct_size = SLW_SIZE_TO(slw_optimizer_vtable, step);
  t.create = nothing;
  t.destroy = no_return;
  t.step = nothing;
  return t;
}
slw_dataset_vtable dataset_table() {
  slw_dataset_vtable t{};
  t.struct_size = SLW_SIZE_TO(slw_dataset_vtable, fingerprint);
  t.create = nothing;
  t.destroy = no_return;
  t.get = nothing;
  return t;
}

slw_component component(const char* kind, const void* vtable) {
  slw_component c{};
  c.struct_size = SLW_SIZE_TO(slw_component, vtable);
  c.kind = kind;
  c.name = "nothing";
  c.vtable = vtable;
  return c;
}

// Seconds of one call, the best of several runs.
template <class F>
double seconds_of(F&& call) {
  constexpr int kCalls = 20000, kRuns = 5;
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const Timer timer;
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(best, timer.seconds() / kCalls);
  }
  return best;
}

class Border {
 public:
  explicit Border(const Training& training) : training_(training) {}

  // Seconds of all crossings of a step with so many microbatches.
  double per_step(int64_t num_microbatches) {
    const double microbatch = line("dataset get", get()) + line("model forward", forward()) +
                              line("model backward", backward()) + line("gradients ready (all parameters)", hooks());
    const double step = line("model step_begin, step_end", model_step()) +
                        line("data parallel, four calls", dp_step()) +
                        line("optimizer step (all shards)", optimizer_step());
    return static_cast<double>(num_microbatches) * microbatch + step;
  }

 private:
  static double line(const char* what, double seconds) {
    std::printf("  %-34s %8.0f ns\n", what, seconds * 1e9);
    return seconds;
  }

  double get() {
    const slw_dataset_args args{SLW_SIZE_TO(slw_dataset_args, cache_dir), 0, 256, 1, nullptr};
    const HostDataset dataset({&library_, &dataset_}, host_, "{}", args);
    const std::vector<int64_t> indices(8);
    const std::vector<slw_tensor*> outs(4);
    return seconds_of([&] { dataset.get(indices, outs); });
  }
  double forward() {
    const slw_forward_args args{};
    return seconds_of([&] { model_instance_.forward(args); });
  }
  double backward() {
    const slw_backward_args args{};
    return seconds_of([&] { model_instance_.backward(args); });
  }
  double model_step() {
    const slw_step_info info{};
    return seconds_of([&] {
      model_instance_.step_begin(info);
      model_instance_.step_end(info);
    });
  }
  double dp_step() {
    return seconds_of([&] {
      dp_instance_.step_begin();
      dp_instance_.grad_reduce_finish();
      dp_instance_.start_gather();
      dp_instance_.finish_gather();
    });
  }
  // The calls that go the other way: from the model into the core, and on to the backend.
  double hooks() {
    StepHooks hooks(training_.table, *training_.store, dp_instance_, /*acquires=*/false);
    const auto uses = training_.table.num_uses(0);
    const slw_stream stream{kCpu, nullptr};
    slw_error error{};
    return seconds_of([&] {
      hooks.begin(0, 0, true);
      for (int32_t i = 0; i < uses; ++i) hooks.get()->grad_ready(hooks.get(), i, &stream, &error);
      hooks.finish_backward();
    });
  }
  double optimizer_step() {
    HostOptimizer optimizer({&library_, &optimizer_}, host_, "{}", training_.run_info);
    slw_shard shard{};
    const std::vector<const slw_shard*> shards(training_.owned.size(), &shard);
    return seconds_of([&] { optimizer.step(shards, 1.0); });
  }

  const Training& training_;
  LoadedLibrary library_{};
  Host host_{Host::Services{}};
  slw_model_vtable model_table_ = model_table();
  slw_dp_vtable dp_table_ = dp_table();
  slw_optimizer_vtable optimizer_table_ = optimizer_table();
  slw_dataset_vtable dataset_table_ = dataset_table();
  slw_component model_ = component(SLW_KIND_MODEL, &model_table_);
  slw_component dp_ = component(SLW_KIND_DP, &dp_table_);
  slw_component optimizer_ = component(SLW_KIND_OPTIMIZER, &optimizer_table_);
  slw_component dataset_ = component(SLW_KIND_DATASET, &dataset_table_);
  HostModel model_instance_{{&library_, &model_}, host_, "{}", training_.run_info};
  HostDp dp_instance_{{&library_, &dp_}, host_, "{}", training_.run_info};
};

std::vector<double> step_seconds(Runtime& runtime, Training& training, Iterators& iterators) {
  std::vector<double> seconds;
  while (has_next_step(runtime, training)) {
    const Timer timer;
    train_step(runtime, training, iterators);
    seconds.push_back(timer.seconds());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

int run() {
  Reporter silent(-1);
  Log log(LogLevel::kWarning);
  LaunchContext context;
  context.log = &log;
  const std::string source = std::getenv("SLIPWAY_SOURCE_DIR"), build = std::getenv("SLIPWAY_BUILD_DIR");
  const RunPlan plan = plan_run(
      {"--manifest", source + "/launcher/manifests/devils_dictionary.json", "--train-iters", "12", "--lr-warmup-iters",
       "2", "--eval-interval", "0", "--eval-iters", "0", "--plugin-path", build + "/lib/slipway/plugins"},
      {1, 1}, silent);
  auto runtime = initialize(plan, context);
  auto training = setup_model_and_optimizer(*runtime);
  auto iterators = build_iterators(*runtime, *training);
  const std::vector<double> seconds = step_seconds(*runtime, *training, *iterators);
  const double step = seconds[seconds.size() / 2];
  const int64_t microbatches = *plan.config.train.global_batch_size / plan.config.train.micro_batch_size;
  std::printf("crossings, with plugins that do nothing:\n");
  const double border = Border(*training).per_step(microbatches);
  std::printf("step of the demo model: %.1f ms; the border's part, %lld microbatches: %.1f us = %.4f %%\n", step * 1e3,
              static_cast<long long>(microbatches), border * 1e6, 100 * border / step);
  return border < 0.01 * step ? 0 : 1;
}

}  // namespace
}  // namespace slipway

int main() {
  try {
    return slipway::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "border_bench: %s\n", error.what());
    return 2;
  }
}
