// Runs a built model plugin as the core would: loads the shared object, fills the options' defaults, gives memory to
// the declared parameters, and drives forward and backward through slw_model_vtable, over any number of pipeline stages
// in this one process. For tests; one thread.
#pragma once

#include <slipway/model.h>

#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/plugin_host/host_model.h"

namespace slipway {

struct ModelSetup {
  std::string model = "gpt";
  nlohmann::json options;  // the others get their defaults
  int64_t batch_size = 2, seq_length = 32, vocab_size = 128;
  int64_t padded_vocab_size = 0;  // 0: as vocab_size
  int num_stages = 1;             // layers are divided evenly
  uint64_t seed = 1234;
  bool keeps_ready_gradients = false;
  int rank_noise = 0;  // put into the ranks of slw_run_info, which offline calls must not read
};

struct ModelBatch {
  std::vector<int64_t> tokens, labels, position_ids, sample_ids;  // position_ids may be empty
  std::vector<float> loss_mask;
  int64_t batch_size = 0, seq_length = 0;

  // Row `row` alone.
  ModelBatch sample(int64_t row) const;
};

struct PassOptions {
  int slot = 0;
  uint32_t flags = SLW_FWD_TRAIN;
  bool wants_logits = false;
};

struct PassResult {
  double loss_sum = 0;
  std::vector<float> logits;  // [batch, seq, vocab]
};

class ModelHarness {
 public:
  explicit ModelHarness(const ModelSetup& setup);
  ~ModelHarness();

  // Each parameter once, in declare order over the stages.
  std::vector<std::string> parameter_names() const;
  const Param& declaration(const std::string& name) const;
  // Values and gradients in the logical shape. A parameter that several stages hold is written to all of them, and its
  // gradient is the sum of theirs.
  void set(const std::string& name, std::span<const float> values);
  std::vector<float> values(const std::string& name) const;
  std::vector<float> gradient(const std::string& name) const;
  // The elements of the gradient that belong to vocabulary padding.
  std::vector<float> padding_gradient(const std::string& name) const;
  void zero_gradients();
  // Fills every parameter by its declared rule.
  void initialize();

  // All stages, first to last.
  PassResult forward(const ModelBatch& batch, const PassOptions& options);
  // All stages, last to first; loss_gradient is d total / d loss_sum.
  void backward(int slot, double loss_gradient);
  // forward with NO_SAVE, then RECOMPUTE and backward stage by stage from the last on, as whole-stage recomputation
  // does.
  PassResult forward_recompute_backward(const ModelBatch& batch, uint32_t flags, double loss_gradient);
  void discard(int slot);

  // Names in the order in which grad_ready was called, since the last call of this function.
  std::vector<std::string> take_ready_names();
  // The gradients as they were when grad_ready was called in the last backward, with keeps_ready_gradients.
  const std::map<std::string, std::vector<float>>& ready_gradients() const { return ready_gradients_; }
  HostModel& model() { return *model_; }
  const slw_stage& stage(int index) const;
  ModelDescription description() const { return model_->describe(); }
  IoSpec io_spec(int stage) const;
  // Of one microbatch. REQUIRES: the model has `cost`.
  slw_cost cost(int stage) const;

 private:
  struct Buffer;
  struct Stage;
  struct Pass;

  void add_stages();
  void bind(Stage& stage);
  void run_stage(Stage& stage, Pass& pass, const PassOptions& options, PassResult& result);
  void back_stage(Stage& stage, Pass& pass, double loss_gradient);

  ModelSetup setup_;
  Component component_;
  std::string options_json_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<HostModel> model_;
  std::deque<Stage> stages_;
  std::map<int, Pass> passes_;  // by slot
  std::vector<std::string> ready_;
  std::map<std::string, std::vector<float>> ready_gradients_;
};

}  // namespace slipway
