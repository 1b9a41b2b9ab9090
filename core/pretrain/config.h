// The root configuration: one struct per manifest section, each option on one `fields` line with Megatron's name. A
// value, fixed once step 1 has begun; what follows from it are functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/fields.h"
#include "core/optim/microbatches.h"
#include "core/optim/schedule.h"
#include "core/parallel/pipeline_config.h"

namespace slipway {

// Evaluation on the validation and test split.
struct EvalConfig {
  int64_t eval_interval = 0;
  std::optional<int64_t> eval_iters;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("eval_interval", self.eval_interval, "Steps between evaluations on the validation split; 0: none.",
          {.min = 0});
    visit("eval_iters", self.eval_iters,
          "Global batches per evaluation. After training the validation and the test split are evaluated as well; 0: "
          "never. null: 100 when eval_interval is given, else 0.",
          {.min = 0});
  }
};

// When a run ends before its last step.
struct ExitConfig {
  std::optional<double> exit_duration_in_mins;
  int64_t exit_interval = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("exit_duration_in_mins", self.exit_duration_in_mins,
          "Save and end with exit code 0 after the step in which this many minutes since the start are over.",
          {.min = 0});
    visit("exit_interval", self.exit_interval,
          "Save and end with exit code 0 after a step that is a multiple of this; 0: never.", {.min = 0});
  }
};

struct TrainConfig {
  int64_t seed = 1234;
  std::string rng = "invariant";
  bool data_parallel_random_init = false;
  std::string loss_normalization = "token";
  int64_t micro_batch_size = 1;
  std::optional<int64_t> global_batch_size;
  std::vector<int64_t> rampup_batch_size;
  int64_t seq_length = 256;
  std::optional<int64_t> train_iters;
  std::optional<int64_t> train_samples;
  std::string device = "cpu";
  int64_t cpu_threads = 0;
  bool cpu_memory_pool = true;

  double lr = 3e-4;
  double min_lr = 0.0;
  std::string lr_decay_style = "linear";
  std::optional<int64_t> lr_decay_iters, lr_decay_samples;
  std::optional<int64_t> lr_warmup_iters, lr_warmup_samples;
  std::optional<double> lr_warmup_fraction;
  double lr_warmup_init = 0.0;
  std::string lr_wsd_decay_style = "exponential";
  std::optional<int64_t> lr_wsd_decay_iters, lr_wsd_decay_samples;

  double weight_decay = 0.01;
  std::optional<double> start_weight_decay, end_weight_decay;
  std::string weight_decay_incr_style = "constant";
  double clip_grad = 1.0;

  EvalConfig eval;
  ExitConfig exit;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit);

  // REQUIRES for all below: resolve() was called.
  BatchConfig batches(int64_t data_parallel) const;
  ScheduleConfig schedule() const;
  int64_t total_samples() const;
  // The batch of the step after `consumed` samples; nullopt: training is over, also when what is left of train_samples
  // makes no whole batch (Megatron's rule).
  std::optional<StepBatch> next_batch(const BatchConfig& batches, int64_t consumed) const;
  // What the whole training takes, from the first step to the last.
  struct Length {
    int64_t steps = 0, samples = 0;
  };
  Length length() const;
  // Fills what depends on the number of ranks: global batch size, compute threads. Throws ConfigError for options that
  // contradict each other or are missing.
  void resolve(int64_t data_parallel, int local_world_size);
};

struct ParallelConfig {
  int64_t tensor_model_parallel_size = 1;
  int64_t pipeline_model_parallel_size = 1;
  int64_t context_parallel_size = 1;
  int64_t expert_model_parallel_size = 1;
  int64_t expert_tensor_parallel_size = 1;
  bool sequence_parallel = false;
  PipelineConfig pipeline;
  std::string order = "tp-cp-ep-dp-pp";
  bool use_tp_pp_dp_mapping = false;
  std::optional<std::string> distributed_backend;
  double distributed_timeout_minutes = 10;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("tensor_model_parallel_size", self.tensor_model_parallel_size, "Ranks that share each layer's tensors.",
          {.min = 1});
    visit("pipeline_model_parallel_size", self.pipeline_model_parallel_size, "Ranks that share the layers.",
          {.min = 1});
    visit("context_parallel_size", self.context_parallel_size, "Ranks that share each sequence.", {.min = 1});
    visit("expert_model_parallel_size", self.expert_model_parallel_size, "Ranks that share the experts.", {.min = 1});
    visit("expert_tensor_parallel_size", self.expert_tensor_parallel_size, "Ranks that share each expert's tensors.",
          {.min = 1});
    visit("sequence_parallel", self.sequence_parallel,
          "Between the layers each tensor parallel rank holds a part of the tokens, instead of all of them.");
    PipelineConfig::fields(self.pipeline, visit);
    visit("order", self.order, "Axes of the rank grid, the leftmost varies fastest.");
    visit("use_tp_pp_dp_mapping", self.use_tp_pp_dp_mapping, "The order tp-cp-ep-pp-dp.");
    visit("distributed_backend", self.distributed_backend,
          "What moves data between ranks: gloo for host memory, nccl for GPU memory; null: the device's.",
          {.choices = {"gloo", "nccl"}});
    visit("distributed_timeout_minutes", self.distributed_timeout_minutes,
          "How long a rank waits for the others, in any group.", {.min = 0.01});
  }
};

struct CheckpointConfig {
  bool save = true;
  int64_t save_interval = 0;
  bool save_initial = false;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("save", self.save, "Write checkpoints into the output folder.");
    visit("save_interval", self.save_interval, "Steps between checkpoints; 0: only at the end of the run.", {.min = 0});
    visit("save_initial", self.save_initial, "Write a checkpoint of step 0, before training.");
  }
};

struct LoggingConfig {
  int64_t log_interval = 10;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("log_interval", self.log_interval, "Steps between log lines; metrics.jsonl has every step.", {.min = 1});
  }
};

// The core's own part of section `model`; the rest is the chosen model's.
struct ModelConfig {
  int64_t vocab_size = 0;
  int64_t make_vocab_size_divisible_by = 128;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("vocab_size", self.vocab_size, "Number of token ids; 0: the data's.", {.min = 0});
    visit("make_vocab_size_divisible_by", self.make_vocab_size_divisible_by,
          "The vocabulary is padded to a multiple of this times the tensor parallel size; padding changes no number.",
          {.min = 1});
  }
};

// The core's own part of section `data`.
struct DataConfig {
  std::string split = "969,30,1";
  int64_t num_workers = 2;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("split", self.split, "Weights of training, validation and test part of the data.");
    visit("num_workers", self.num_workers,
          "Threads per rank that read the next step while this one computes; 0: each step reads its own first. Changes "
          "no number.",
          {.min = 0, .max = 256});
  }

  // Where the parts begin and end, fractions of 1: four numbers, 0 first, 1 last. Throws ConfigError.
  std::vector<double> split_bounds() const;
};

struct Config {
  TrainConfig train;
  ParallelConfig parallel;
  CheckpointConfig checkpoint;
  LoggingConfig logging;
  ModelConfig model;
  DataConfig data;
};

template <class Self, class Visitor>
void TrainConfig::fields(Self& self, Visitor&& visit) {
  visit("seed", self.seed, "Seed of weights, dropout and sample order.", {.min = 1});
  visit("rng", self.rng,
        "invariant: every random number is a function of what it is for, the same in every layout; megatron: "
        "Megatron's seeds and streams, which depend on the layout.",
        {.choices = {"invariant", "megatron"}});
  visit("data_parallel_random_init", self.data_parallel_random_init,
        "rng megatron: each data-parallel rank has seeds of its own; the first one's initial weights count.");
  visit("loss_normalization", self.loss_normalization,
        "token: losses are divided by what the whole step predicts, whatever the layout; microbatch: Megatron's mean "
        "of microbatch means.",
        {.choices = {"token", "microbatch"}});
  visit("micro_batch_size", self.micro_batch_size, "Samples per forward of one rank.", {.min = 1});
  visit("global_batch_size", self.global_batch_size,
        "Samples per step over all ranks; null: one microbatch per data-parallel rank.", {.min = 1});
  visit("rampup_batch_size", self.rampup_batch_size,
        "Start, increment and samples: the global batch grows from start to global_batch_size over that many samples.");
  visit("seq_length", self.seq_length, "Tokens per sample.", {.min = 1});
  visit("train_iters", self.train_iters, "Steps to train; either this or train_samples.", {.min = 0});
  visit("train_samples", self.train_samples, "Samples to train on; either this or train_iters.", {.min = 0});
  visit("device", self.device, "Where the run computes.", {.choices = {"cpu", "cuda"}});
  visit("cpu_threads", self.cpu_threads,
        "Compute threads per rank; 0: the machine's cores shared by its ranks. Recorded, because it changes the last "
        "bits of sums.",
        {.min = 0});
  visit(
      "cpu_memory_pool", self.cpu_memory_pool,
      "Keep freed tensors on the CPU for the next step instead of giving them back to the system. Changes no number.");
  visit("lr", self.lr, "Learning rate after warm-up.", {.min = 0});
  visit("min_lr", self.min_lr, "Learning rate at and after the end of the decay.", {.min = 0});
  visit("lr_decay_style", self.lr_decay_style, "How the learning rate falls.",
        {.choices = {"constant", "linear", "cosine", "inverse-square-root", "WSD"}});
  visit("lr_decay_iters", self.lr_decay_iters, "Steps until min_lr, warm-up included; null: train_iters.", {.min = 1});
  visit("lr_decay_samples", self.lr_decay_samples, "The same in samples.", {.min = 1});
  visit("lr_warmup_iters", self.lr_warmup_iters, "Steps of linear warm-up.", {.min = 0});
  visit("lr_warmup_samples", self.lr_warmup_samples, "The same in samples.", {.min = 0});
  visit("lr_warmup_fraction", self.lr_warmup_fraction, "The same as a part of the decay.", {.min = 0, .max = 1});
  visit("lr_warmup_init", self.lr_warmup_init, "Learning rate at the start of the warm-up.", {.min = 0});
  visit("lr_wsd_decay_style", self.lr_wsd_decay_style, "How WSD's last part falls.",
        {.choices = {"linear", "cosine", "exponential", "minus_sqrt"}});
  visit("lr_wsd_decay_iters", self.lr_wsd_decay_iters, "Steps of WSD's last part.", {.min = 0});
  visit("lr_wsd_decay_samples", self.lr_wsd_decay_samples, "The same in samples.", {.min = 0});
  visit("weight_decay", self.weight_decay, "Weight decay of everything but biases and norms.", {.min = 0});
  visit("start_weight_decay", self.start_weight_decay, "Weight decay at the start; null: weight_decay.", {.min = 0});
  visit("end_weight_decay", self.end_weight_decay, "Weight decay at the end; null: weight_decay.", {.min = 0});
  visit("weight_decay_incr_style", self.weight_decay_incr_style, "How weight decay moves from start to end.",
        {.choices = {"constant", "linear", "cosine"}});
  visit("clip_grad", self.clip_grad, "Largest L2 norm of the gradient; larger ones are scaled down; 0: no limit.",
        {.min = 0});
  EvalConfig::fields(self.eval, visit);
  ExitConfig::fields(self.exit, visit);
}

}  // namespace slipway
