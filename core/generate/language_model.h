// A trained model that tells what may come next. One process, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/generate/checkpoint_plan.h"
#include "core/parallel/step_hooks.h"
#include "core/pretrain/runtime.h"

namespace slipway {

class LanguageModel {
 public:
  // Makes the model of the plan and fills it from the checkpoint. Throws ConfigError when it gives no logits.
  LanguageModel(const CheckpointPlan& plan, const CheckpointReader& reader, const LaunchContext& context);

  int64_t vocab_size() const { return training_->run_info.vocab_size; }
  // Tokens that it was trained to see at once.
  int64_t seq_length() const { return training_->run_info.seq_length; }
  Host& host() { return *runtime_->host; }

  // Logits of the token after each context, [contexts x vocab_size], valid until the next call. All contexts have one
  // length, 1 to seq_length. Every call is a full forward: the border has no cache of earlier tokens.
  std::span<const float> next_logits(const std::vector<std::vector<int64_t>>& contexts);

 private:
  void require_fields();
  void forward(const slw_batch& batch, slw_tensor& logits, int64_t rows, int64_t length);

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Training> training_;
  std::unique_ptr<StepHooks> hooks_;
  std::vector<float> logits_, last_;
};

}  // namespace slipway
