#include "core/pretrain/config.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/base/strings.h"

namespace slipway {
namespace {

// Of options that say the same thing at most one may be given.
void at_most_one(std::initializer_list<std::pair<const char*, bool>> options) {
  std::vector<std::string> given;
  for (const auto& [name, is_given] : options) {
    if (is_given) given.push_back(std::string("train.") + name);
  }
  if (given.size() > 1) throw ConfigError(join(given, " and ") + " say the same thing; give one of them");
}

// Samples of a length given in samples or in steps; `otherwise` when neither is.
int64_t samples_of(std::optional<int64_t> samples, std::optional<int64_t> iters, int64_t batch, int64_t otherwise) {
  if (samples) return *samples;
  return iters ? *iters * batch : otherwise;
}

}  // namespace

void TrainConfig::resolve(int64_t data_parallel, int local_world_size) {
  if (data_parallel_random_init && rng != "megatron") {
    throw ConfigError(
        "train.data_parallel_random_init needs train.rng megatron: invariant numbers are the same on every rank");
  }
  at_most_one({{"train_iters", train_iters.has_value()}, {"train_samples", train_samples.has_value()}});
  at_most_one({{"lr_decay_iters", lr_decay_iters.has_value()}, {"lr_decay_samples", lr_decay_samples.has_value()}});
  at_most_one({{"lr_warmup_iters", lr_warmup_iters.has_value()},
               {"lr_warmup_samples", lr_warmup_samples.has_value()},
               {"lr_warmup_fraction", lr_warmup_fraction.has_value()}});
  at_most_one({{"lr_wsd_decay_iters", lr_wsd_decay_iters.has_value()},
               {"lr_wsd_decay_samples", lr_wsd_decay_samples.has_value()}});
  if (!train_iters && !train_samples) {
    throw ConfigError(
        "neither train.train_iters nor train.train_samples is given; say how long to train, e.g. "
        "--train-iters 100");
  }
  if (!rampup_batch_size.empty() && (rampup_batch_size.size() != 3 || !train_samples)) {
    throw ConfigError(
        "train.rampup_batch_size wants three numbers (start, increment, samples) and train.train_samples "
        "for the length, because the steps differ in size");
  }
  if (eval.eval_interval > 0 && eval.eval_iters == 0) {
    throw ConfigError("train.eval_interval is " + std::to_string(eval.eval_interval) +
                      " but train.eval_iters is 0; give the global batches per evaluation, or leave eval_interval out");
  }
  if (!eval.eval_iters) eval.eval_iters = eval.eval_interval > 0 ? 100 : 0;
  if (!global_batch_size) global_batch_size = micro_batch_size * data_parallel;
  if (cpu_threads == 0) {
    const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
    cpu_threads = std::max<int64_t>(1, cores / local_world_size);
  }
}

BatchConfig TrainConfig::batches(int64_t data_parallel) const {
  BatchConfig batches;
  batches.global_batch = *global_batch_size;
  batches.micro_batch = micro_batch_size;
  batches.data_parallel = data_parallel;
  if (!rampup_batch_size.empty()) {
    batches.rampup = BatchRampup{rampup_batch_size[0], rampup_batch_size[1], rampup_batch_size[2]};
  }
  return batches;
}

int64_t TrainConfig::total_samples() const { return samples_of(train_samples, train_iters, *global_batch_size, 0); }

std::optional<StepBatch> TrainConfig::next_batch(const BatchConfig& batches, int64_t consumed) const {
  const StepBatch batch = step_batch(batches, consumed);
  if (consumed + batch.global_batch > total_samples()) return std::nullopt;
  return batch;
}

TrainConfig::Length TrainConfig::length() const {
  const BatchConfig config = batches(1);
  Length length;
  const auto is_growing = [&] { return config.rampup && length.samples <= config.rampup->samples; };
  for (auto batch = next_batch(config, 0); is_growing() && batch; batch = next_batch(config, length.samples)) {
    length.steps += 1;
    length.samples += batch->global_batch;
  }
  if (is_growing()) return length;
  const int64_t rest = std::max<int64_t>(0, (total_samples() - length.samples) / config.global_batch);
  return {length.steps + rest, length.samples + rest * config.global_batch};
}

ScheduleConfig TrainConfig::schedule() const {
  const int64_t batch = *global_batch_size;
  ScheduleConfig schedule;
  schedule.init_lr = lr_warmup_init;
  schedule.max_lr = lr;
  schedule.min_lr = min_lr;
  schedule.decay_samples = std::max<int64_t>(1, samples_of(lr_decay_samples, lr_decay_iters, batch, total_samples()));
  schedule.warmup_samples =
      lr_warmup_fraction ? static_cast<int64_t>(*lr_warmup_fraction * static_cast<double>(schedule.decay_samples))
                         : samples_of(lr_warmup_samples, lr_warmup_iters, batch, 0);
  schedule.lr_style = slipway::lr_decay_style(lr_decay_style);
  schedule.wsd_style = wsd_decay_style(lr_wsd_decay_style);
  schedule.wsd_decay_samples = samples_of(lr_wsd_decay_samples, lr_wsd_decay_iters, batch, 0);
  schedule.start_wd = start_weight_decay.value_or(weight_decay);
  schedule.end_wd = end_weight_decay.value_or(weight_decay);
  schedule.wd_incr_samples = std::max<int64_t>(1, total_samples());
  schedule.wd_style = wd_incr_style(weight_decay_incr_style);
  return schedule;
}

std::vector<double> DataConfig::split_bounds() const {
  std::vector<double> weights;
  for (const std::string& text : slipway::split(split, ',')) {
    char* end = nullptr;
    const std::string number = trim(text);
    weights.push_back(std::strtod(number.c_str(), &end));
    if (number.empty() || *end != '\0' || !(weights.back() >= 0)) weights.back() = -1;
  }
  double total = 0;
  for (const double weight : weights) total += weight < 0 ? -1e300 : weight;
  if (weights.size() > 3 || !(total > 0)) {
    throw ConfigError("data.split is " + in_quotes(split) +
                      "; it wants up to three weights for training, validation and test, e.g. 969,30,1");
  }
  weights.resize(3, 0.0);
  std::vector<double> bounds{0.0};
  for (const double weight : weights) bounds.push_back(bounds.back() + weight / total);
  bounds.back() = 1.0;
  return bounds;
}

}  // namespace slipway
