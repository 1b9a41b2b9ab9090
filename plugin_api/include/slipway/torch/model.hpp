// A model over LibTorch: the class to derive from, and what one forward pass of a stage sees.
//
// Slots: the graph of a pass is kept under (stage, slot) until its backward or discard. A pass with NO_SAVE builds
// none. One instance is used by one thread at a time.
#pragma once

#include <ATen/core/grad_mode.h>
#include <c10/core/GradMode.h>

#include <slipway/sdk/model.hpp>
#include <slipway/torch/dropout.hpp>
#include <slipway/torch/guard.hpp>
#include <slipway/torch/params.hpp>
#include <slipway/torch/saved_pass.hpp>
#include <tuple>

SLW_SDK_BEGIN

// One forward pass. Borrowed for the call.
class TorchPass {
 public:
  TorchPass(const Host& host, uint64_t seed, const slw_forward_args& args, const TorchParams& params)
      : host_(host), seed_(seed), args_(args), params_(params) {
    for (const slw_tensor& input : items(args.num_inputs, args.inputs)) {
      inputs_.push_back(as_tensor(input).set_requires_grad(saves_graph()));
    }
    if (args.sample_ids != nullptr) tokens_.samples = copy_of(args.sample_ids, args.batch_size);
    tokens_.positions = global_positions();
  }

  const slw_forward_args& args() const { return args_; }
  // Activations of the stage before, as declared in io_spec. Never write into them.
  const std::vector<at::Tensor>& inputs() const { return inputs_; }
  // A required field of the batch; an optional one (undefined when it is not there). Never write into them.
  at::Tensor field(const char* name) const { return as_tensor(batch_field(*args_.batch, name)); }
  at::Tensor optional_field(const char* name) const {
    const slw_tensor* tensor = args_.batch->get(args_.batch, name);
    return tensor == nullptr ? at::Tensor() : as_tensor(*tensor);
  }
  const TokenIds& tokens() const { return tokens_; }

  bool is_training() const { return (args_.flags & SLW_FWD_TRAIN) != 0; }
  bool saves_graph() const { return (args_.flags & SLW_FWD_NO_SAVE) == 0; }
  // Has loss i a reader: the host, or a backward?
  bool wants_loss(uint32_t i) const { return saves_graph() || (i < args_.num_losses && args_.loss_sums[i] != nullptr); }

  // To be held while the parameters of a gather unit are used for the first time in a pass: they are whole once this
  // returns. A model that does so for all its units says SLW_MODEL_ACQUIRES.
  UnitUse acquire(const std::string& unit) const { return {args_.hooks, args_.stream, params_.of_unit(unit)}; }

  // Of a region whose numbers all tensor parallel ranks compute, or of one that they share. Matters under rng=megatron.
  enum class Region { kReplicated, kShared };

  // Dropout at the named place; inactive outside of training.
  Dropout dropout_at(const std::string& place, double p, Region region = Region::kReplicated) const {
    if (!is_training() || p <= 0) return {};
    if (SLW_HAS_FN(args_.hooks, slw_step_hooks, rng_reserve)) {
      Dropout dropout;
      dropout.p = p;
      dropout.tokens = tokens_;
      dropout.hooks = args_.hooks;
      dropout.stream = region == Region::kShared ? "model-parallel-rng" : "data-parallel-rng";
      return dropout;
    }
    if (!tokens_.samples.defined()) throw Error(SLW_INVALID_ARGUMENT, "dropout needs sample_ids; forward gets none");
    const slw_rng* rng = host_.rng();
    const uint64_t key = SLW_HAS_FN(rng, slw_rng, key) ? rng->key(host_.get(), "dropout", place.c_str())
                                                       : slw_philox_key(seed_, "dropout", place.c_str());
    Dropout dropout;
    dropout.key = key;
    dropout.p = p;
    dropout.tokens = tokens_;
    return dropout;
  }

  // Hands logits [batch, seq, vocab_size] to the host, if it asked for them.
  void give_logits(const at::Tensor& logits) const {
    if (args_.logits != nullptr) copy_into(*args_.logits, logits.detach(), "logits");
  }

 private:
  at::Tensor global_positions() const {
    std::vector<int64_t> positions;
    for (uint32_t r = 0; r < args_.num_seq_ranges; ++r) {
      for (int64_t t = args_.seq_ranges[r].begin; t < args_.seq_ranges[r].end; ++t) positions.push_back(t);
    }
    if (args_.num_seq_ranges == 0) return at::arange(args_.seq_length, at::kLong);
    return copy_of(positions.data(), static_cast<int64_t>(positions.size()));
  }
  static at::Tensor copy_of(const int64_t* values, int64_t count) {
    at::Tensor copy = at::empty({count}, at::kLong);
    std::copy(values, values + count, copy.mutable_data_ptr<int64_t>());
    return copy;
  }

  const Host& host_;
  uint64_t seed_;
  const slw_forward_args& args_;
  const TorchParams& params_;
  std::vector<at::Tensor> inputs_;
  TokenIds tokens_;
};

// What a pass made, in the order of io_spec and describe. Losses are 0-d; one that nobody wants may be undefined.
struct TorchOutputs {
  std::vector<at::Tensor> activations, loss_sums, loss_counts;
};

// The code of one bound stage: holds its parameters, runs forward with autograd on.
class TorchStage {
 public:
  virtual ~TorchStage() = default;
  virtual TorchOutputs forward(const TorchPass& pass) = 0;
};

// Derive from it, give it a constructor (slw::Host, const slw::Config&, const slw_run_info&), register with slw::model.
class TorchModel {
 public:
  virtual ~TorchModel() = default;
  TorchModel(const TorchModel&) = delete;
  TorchModel& operator=(const TorchModel&) = delete;

  virtual slw_model_info describe() = 0;
  virtual void declare(const slw_stage& stage, ParamSink& params) = 0;
  virtual void io_spec(const slw_io_args& args, IoSink& io) = 0;
  // Called in bind; the parameters live until the stage is unbound.
  virtual std::unique_ptr<TorchStage> make_stage(const slw_stage& stage, const TorchParams& params) = 0;

  void bind(const slw_bind_args& args) {
    with_torch_errors([&] {
      unbind(*args.stage);
      const slw_stage& stage = *args.stage;
      auto params =
          std::make_unique<TorchParams>(args, declared_params([&](ParamSink& sink) { declare(stage, sink); }));
      std::unique_ptr<TorchStage> code = make_stage(stage, *params);
      stages_[key_of(stage)] = {std::move(params), std::move(code), {}};
    });
  }
  void unbind(const slw_stage& stage) { stages_.erase(key_of(stage)); }

  void forward(const slw_forward_args& args) {
    with_torch_errors([&] {
      Bound& bound = bound_stage(*args.stage);
      const bool saves = (args.flags & SLW_FWD_NO_SAVE) == 0;
      if (saves && bound.passes.count(args.slot) != 0) {  // NOLINT(readability-container-contains): is C++17
        throw Error(SLW_PRECONDITION, cat("slot ", args.slot, " still holds a pass: backward or discard it first"));
      }
      const OnStream on_stream(args.stream);
      const c10::AutoGradMode grad_mode(saves);
      const TorchPass pass(host_, seed_, args, *bound.params);
      const TorchOutputs made = bound.code->forward(pass);
      give(args, made);
      if (saves) bound.passes.emplace(args.slot, SavedPass(pass.inputs(), made.activations, made.loss_sums));
    });
  }

  void backward(const slw_backward_args& args) {
    with_torch_errors([&] {
      Bound& bound = bound_stage(*args.stage);
      auto found = bound.passes.extract(args.slot);
      if (found.empty()) throw Error(SLW_PRECONDITION, cat("slot ", args.slot, " holds no pass to go back through"));
      const OnStream on_stream(args.stream);
      const auto reporting = bound.params->report_to(args.hooks, args.stream);
      found.mapped().backward(args);
    });
  }

  void discard(const slw_stage& stage, int32_t slot) noexcept {
    const auto found = stages_.find(key_of(stage));
    if (found != stages_.end()) found->second.passes.erase(slot);
  }

 protected:
  TorchModel(Host host, const slw_run_info& run) : host_(host), seed_(run.seed) {}
  const Host& host() const { return host_; }

 private:
  using Key = std::tuple<int32_t, int32_t, int32_t, int32_t, int32_t>;
  struct Bound {
    std::unique_ptr<TorchParams> params;
    std::unique_ptr<TorchStage> code;
    std::map<int32_t, SavedPass> passes;  // by slot
  };

  static Key key_of(const slw_stage& s) {
    return {s.vp_stage, s.pre_process, s.post_process, s.layer_begin, s.layer_end};
  }
  Bound& bound_stage(const slw_stage& stage) {
    const auto found = stages_.find(key_of(stage));
    if (found != stages_.end()) return found->second;
    throw Error(SLW_PRECONDITION,
                cat("the stage with layers [", stage.layer_begin, ", ", stage.layer_end, ") is not bound"));
  }

  static void give(const slw_forward_args& args, const TorchOutputs& made) {
    if (made.activations.size() != args.num_outputs) {
      throw Error(SLW_INVALID_ARGUMENT,
                  cat("forward makes ", made.activations.size(), " activations, the host takes ", args.num_outputs));
    }
    for (uint32_t i = 0; i < args.num_outputs; ++i) {
      copy_into(*args.outputs[i], made.activations[i].detach(), "an activation");
    }
    give_scalars(args.num_losses, args.loss_sums, made.loss_sums, "a loss");
    give_scalars(args.num_losses, args.loss_counts, made.loss_counts, "a loss count");
  }
  static void give_scalars(uint32_t count, slw_tensor* const* to, const std::vector<at::Tensor>& made,
                           const char* what) {
    if (to == nullptr) return;
    for (uint32_t i = 0; i < count && i < made.size(); ++i) {
      if (to[i] != nullptr && made[i].defined()) copy_into(*to[i], made[i].detach(), what);
    }
  }

  Host host_;
  uint64_t seed_;
  std::map<Key, Bound> stages_;
};

SLW_SDK_END
