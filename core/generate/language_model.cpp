#include "core/generate/language_model.h"

#include <algorithm>
#include <map>

#include "core/base/strings.h"
#include "core/params/tensor_view.h"
#include "core/pretrain/checkpoint_io.h"
#include "core/pretrain/make_model.h"
#include "core/pretrain/pretrain.h"

namespace slipway {
namespace {

// The fields of a language model's batch, [rows, length] each: contexts as tokens, and nothing to predict.
class ContextBatch {
 public:
  ContextBatch(const std::vector<std::vector<int64_t>>& contexts, int64_t length)
      : shape_{static_cast<int64_t>(contexts.size()), length},
        strides_{length, 1},
        tokens_(numel()),
        zeros_(numel()),
        positions_(numel()),
        mask_(numel()),
        view_{} {
    for (size_t row = 0; row < contexts.size(); ++row) {
      const auto begin = static_cast<int64_t>(row) * length;
      std::copy(contexts[row].begin(), contexts[row].end(), tokens_.begin() + begin);
      for (int64_t t = 0; t < length; ++t) positions_[static_cast<size_t>(begin + t)] = t;
    }
    fields_ = {{"tokens", of(tokens_.data(), kInt64)},
               {"labels", of(zeros_.data(), kInt64)},
               {"position_ids", of(positions_.data(), kInt64)},
               {"loss_mask", of(mask_.data(), kFloat32)}};
    view_.struct_size = SLW_SIZE_TO(slw_batch, get);
    view_.impl = this;
    view_.get = [](const slw_batch* batch, const char* name) -> const slw_tensor* {
      const auto& fields = static_cast<const ContextBatch*>(batch->impl)->fields_;
      const auto found = name == nullptr ? fields.end() : fields.find(name);
      return found == fields.end() ? nullptr : &found->second;
    };
  }
  ContextBatch(const ContextBatch&) = delete;
  ContextBatch& operator=(const ContextBatch&) = delete;

  const slw_batch& view() const { return view_; }
  static bool has(const std::string& field) {
    return field == "tokens" || field == "labels" || field == "position_ids" || field == "loss_mask";
  }

 private:
  static constexpr slw_dtype kInt64{SLW_CODE_INT, 64, 1};

  size_t numel() const { return static_cast<size_t>(shape_[0] * shape_[1]); }
  slw_tensor of(void* data, slw_dtype dtype) { return {data, kCpu, 2, dtype, shape_.data(), strides_.data(), 0}; }

  std::vector<int64_t> shape_, strides_, tokens_, zeros_, positions_;
  std::vector<float> mask_;
  std::map<std::string, slw_tensor> fields_;
  slw_batch view_;
};

}  // namespace

LanguageModel::LanguageModel(const CheckpointPlan& plan, const CheckpointReader& reader, const LaunchContext& context)
    : runtime_(initialize(plan.plan, context)), training_(make_model(*runtime_, plan.vocabulary)) {
  const std::string name = "model " + plan.plan.model.name();
  if ((training_->description.capabilities & SLW_MODEL_LOGITS) == 0) {
    throw ConfigError(name + " gives no logits (SLW_MODEL_LOGITS), so nothing can be generated with it");
  }
  if (training_->description.table_version != plan.table_version) {
    throw CheckpointError(name + " has version " + std::to_string(training_->description.table_version) +
                          " of its parameter table, " + reader.folder().string() + " was written with version " +
                          std::to_string(plan.table_version) + "; use the plugin that trained it");
  }
  require_fields();
  load_parameters(*runtime_, reader, *training_);
  hooks_ = std::make_unique<StepHooks>(training_->table, *training_->store, *training_->dp, /*acquires=*/false);
}

// A field that only its own dataset can make is asked for by models that are no plain language models.
void LanguageModel::require_fields() {
  for (const FieldRequest& field : training_->model->io_spec(training_->chunks.front(), 1, seq_length()).fields) {
    if (!field.required || ContextBatch::has(field.name)) continue;
    throw ConfigError("model " + runtime_->plan.model.name() + " needs the batch field " + in_quotes(field.name) +
                      ", which a prompt does not have");
  }
}

std::span<const float> LanguageModel::next_logits(const std::vector<std::vector<int64_t>>& contexts) {
  const auto given = static_cast<int64_t>(contexts.front().size());
  const bool takes_any = (training_->description.capabilities & SLW_MODEL_VAR_SEQ) != 0;
  const int64_t length = takes_any ? given : seq_length();  // what follows the context is not seen by what is before
  SLW_CHECK(given >= 1 && given <= length);
  const auto rows = static_cast<int64_t>(contexts.size()), vocab = vocab_size();
  const ContextBatch batch(contexts, length);
  logits_.resize(static_cast<size_t>(rows * length * vocab));
  std::vector<int64_t> shape{rows, length, vocab}, strides = contiguous_strides(shape);
  slw_tensor logits{logits_.data(), kCpu, 3, kFloat32, shape.data(), strides.data(), 0};
  forward(batch.view(), logits, rows, length);
  last_.clear();
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = logits_.begin() + (row * length + given - 1) * vocab;
    last_.insert(last_.end(), begin, begin + vocab);
  }
  return last_;
}

void LanguageModel::forward(const slw_batch& batch, slw_tensor& logits, int64_t rows, int64_t length) {
  const std::vector<int64_t> sample_ids(static_cast<size_t>(rows));
  const std::vector<slw_tensor*> unwanted(training_->description.losses.size());
  const slw_range range{0, length};
  slw_forward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_forward_args, hooks);
  args.flags = SLW_FWD_NO_SAVE;
  args.stage = &training_->chunks.front();
  args.weights_version = training_->store->weights_version();
  args.batch_size = rows;
  args.seq_length = length;
  args.sample_ids = sample_ids.data();
  args.num_seq_ranges = 1;
  args.seq_ranges = &range;
  args.batch = &batch;
  args.num_losses = static_cast<uint32_t>(unwanted.size());
  args.loss_sums = unwanted.data();
  args.logits = &logits;
  args.stream = {kCpu, nullptr};
  hooks_->begin(0, 0, false);
  args.hooks = hooks_->get();
  training_->model->forward(args);
  training_->model->discard(training_->chunks.front(), args.slot);
}

}  // namespace slipway
