#include "core/pretrain/run_reports.h"

namespace slipway {
namespace {

constexpr double kShowEvery = 0.1;  // seconds

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
  if (result.flops_per_rank > 0) line["tflops_per_rank"] = json_number(result.flops_per_rank / seconds / 1e12);
  line["data_wait_s"] = json_number(result.data_wait_seconds);
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

nlohmann::ordered_json evaluation_json(const Progress& progress, const EvalResult& result, bool is_final) {
  const std::string split = result.split == SLW_SPLIT_TEST ? "test" : "valid";
  nlohmann::ordered_json line;
  line["step"] = progress.step;
  line["consumed_samples"] = progress.consumed_samples;
  if (is_final) line["final"] = true;
  line[split + "_loss"] = json_number(result.loss);
  line[split + "_ppl"] = json_number(perplexity(result.loss));
  for (const auto& [name, loss] : result.losses) {
    line[split + " " + name] = json_number(loss);
    line[split + " " + name + " ppl"] = json_number(perplexity(loss));
  }
  return line;
}

}  // namespace

RunReports::RunReports(const Runtime& runtime, const Progress& restored)
    : runtime_(runtime), planned_steps_(runtime.config().train.length().steps) {
  if (!runtime.folder.exists()) return;
  const MetricsFile::Resume resume{restored.step, restored.evaluation_due};
  file_ = std::make_unique<MetricsFile>(runtime.folder.metrics(), resume);
}

RunReports::~RunReports() { hide(); }

void RunReports::step(const Training& training, const StepResult& result, double seconds) {
  const Progress& progress = training.progress;
  if (file_) file_->append(metrics_line(progress, result, seconds));
  const StepNumbers numbers{result.losses,  result.learning_rate,      result.grad_norm,    1.0,
                            result.skipped, progress.consumed_samples, result.global_batch, result.tokens,
                            seconds,        result.flops_per_rank};
  interval_.add(numbers);
  live_.add(numbers);
  show(training);
  const int64_t interval = runtime_.config().logging.log_interval;
  if (progress.step % interval == 0 || progress.step == planned_steps_) log_interval(training);
}

void RunReports::show(const Training& training) {
  const double now = runtime_.since_start.seconds();
  if (!runtime_.context.log->is_terminal() || now - shown_at_ < kShowEvery) return;
  shown_at_ = now;
  const Progress& progress = training.progress;
  runtime_.context.log->show(
      live_.text(progress.step, planned_steps_, runtime_.config().train.length().samples - progress.consumed_samples));
}

void RunReports::log_interval(const Training& training) {
  const std::string line = interval_.line(training.progress.step, planned_steps_);
  interval_ = LogInterval();
  Log& log = *runtime_.context.log;
  if (log.is_terminal()) {
    log.write_to_files(LogLevel::kInfo, line);
  } else {
    log.info(line);
  }
}

void RunReports::evaluation(const Training& training, const EvalResult& result, bool is_final) {
  if (file_) file_->append(evaluation_json(training.progress, result, is_final));
  runtime_.context.log->info(evaluation_line(training.progress.step, split_name(result.split), result.losses));
}

void RunReports::sync() {
  if (file_) file_->sync();
}

void RunReports::hide() { runtime_.context.log->show(""); }

}  // namespace slipway
