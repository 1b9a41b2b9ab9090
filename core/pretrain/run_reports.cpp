#include "core/pretrain/run_reports.h"

#include "core/metrics/log_line.h"
#include "core/metrics/metrics_file.h"

namespace slipway {

struct RunReports::State {
  State(Runtime& of, int64_t restored_step) : runtime(of) {
    if (of.folder.exists()) file = std::make_unique<MetricsFile>(of.folder.metrics(), restored_step);
  }

  Runtime& runtime;
  std::unique_ptr<MetricsFile> file;
  LogInterval interval;
};

namespace {

nlohmann::ordered_json metrics_line(const Progress& progress, const StepResult& result, double seconds) {
  nlohmann::ordered_json line;
  line["step"] = progress.step;
  line["consumed_samples"] = progress.consumed_samples;
  line["tokens"] = progress.tokens;
  line["loss"] = json_number(result.loss);
  line["lr"] = json_number(result.learning_rate);
  line["wd"] = json_number(result.weight_decay);
  line["grad_norm"] = json_number(result.grad_norm);
  line["loss_scale"] = 1.0;
  line["skipped"] = result.skipped;
  line["step_time_s"] = json_number(seconds);
  line["tokens_per_s"] = json_number(static_cast<double>(result.tokens) / seconds);
  for (const auto& [name, loss] : result.losses) line[name] = json_number(loss);
  for (const auto& [name, values] : result.metrics) {
    if (values.size() == 1) {
      line[name] = json_number(values.front());
    } else {
      for (const double value : values) line[name].push_back(json_number(value));
    }
  }
  return line;
}

// Steps of the whole run, as far as they can be told: with a batch size ramp-up they differ in size.
int64_t planned_steps(const Config& config, const Progress& progress) {
  if (config.train.train_iters) return *config.train.train_iters;
  const int64_t left = config.train.total_samples() - progress.consumed_samples;
  return progress.step + left / *config.train.global_batch_size;
}

}  // namespace

RunReports::RunReports(Runtime& runtime, int64_t restored_step) {
  if (runtime.is_first_rank()) state_ = std::make_unique<State>(runtime, restored_step);
}

RunReports::~RunReports() = default;

void RunReports::step(const Training& training, const StepResult& result, double seconds) {
  if (!state_) return;
  const Progress& progress = training.progress;
  if (state_->file) state_->file->append(metrics_line(progress, result, seconds));
  state_->interval.add({result.losses, result.learning_rate, result.grad_norm, 1.0, result.skipped,
                        progress.consumed_samples, result.global_batch, result.tokens, seconds});
  const Config& config = state_->runtime.config();
  const int64_t last = planned_steps(config, progress);
  if (progress.step % config.logging.log_interval != 0 && progress.step != last) return;
  state_->runtime.context.log->info(state_->interval.line(progress.step, last));
  state_->interval = LogInterval();
}

}  // namespace slipway
