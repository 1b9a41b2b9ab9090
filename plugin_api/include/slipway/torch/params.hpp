// The parameters of one stage as autograd leaves. A leaf is a view of the core's parameter memory, and its .grad() is a
// view of the core's gradient buffer, so autograd adds in place, also a bf16 leaf into an fp32 buffer.
//
// A backward formula may add to leaf.mutable_grad() itself and return no gradient: linear() does. Either way a
// parameter is reported as ready once per backward, after the last of its uses.
//
// Used by one thread at a time.
#pragma once

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <map>
#include <memory>
#include <slipway/sdk/model.hpp>
#include <slipway/torch/tensor.hpp>
#include <utility>

SLW_SDK_BEGIN

// Where ready gradients are reported; empty outside of a backward.
struct ReadyReport {
  slw_step_hooks* hooks = nullptr;
  slw_stream stream{};
};

// Runs after the node that ends all uses of a leaf in one backward.
class ReadyHook : public torch::autograd::FunctionPostHook {
 public:
  ReadyHook(int32_t index, std::shared_ptr<const ReadyReport> report) : index_(index), report_(std::move(report)) {}

  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    slw_step_hooks* hooks = report_->hooks;
    if (SLW_HAS_FN(hooks, slw_step_hooks, grad_ready)) {
      call([&](slw_error* e) { return hooks->grad_ready(hooks, index_, &report_->stream, e); });
    }
    return outputs;
  }

 private:
  int32_t index_;
  std::shared_ptr<const ReadyReport> report_;
};

// What declare() said of the parameters, by index.
struct Declared {
  std::vector<std::string> names, units;  // a parameter without a unit has ""
};

class TorchParams {
 public:
  // REQUIRES: the bound memory outlives this object and all graphs over it.
  TorchParams(const slw_bind_args& args, Declared declared)
      : names_(std::move(declared.names)), report_(std::make_shared<ReadyReport>()) {
    if (args.num_params != names_.size()) {
      throw Error(SLW_PRECONDITION,
                  cat("bind gives ", args.num_params, " parameters, the stage declares ", names_.size()));
    }
    for (std::size_t i = 0; i < declared.units.size(); ++i) {
      by_unit_[declared.units[i]].push_back(static_cast<int32_t>(i));
    }
    leaves_.resize(names_.size());
    enders_.resize(names_.size());
    for (const slw_param_view& view : items(args.num_params, args.params)) add(view);
  }

  std::size_t size() const { return leaves_.size(); }
  // By the index that ParamSink::add returned.
  const at::Tensor& operator[](int32_t index) const { return leaves_.at(static_cast<std::size_t>(index)); }
  bool has(const std::string& name) const { return find(name) != names_.end(); }
  // By name; the first, when a tied parameter was declared twice in one stage. Throws when there is none.
  const at::Tensor& at(const std::string& name) const {
    const auto found = find(name);
    if (found == names_.end()) throw Error(SLW_INTERNAL, cat("this stage declares no parameter '", name, "'"));
    return leaves_[static_cast<std::size_t>(found - names_.begin())];
  }

  // The parameters of a gather unit; throws when the stage declares none of it.
  const std::vector<int32_t>& of_unit(const std::string& unit) const {
    const auto found = by_unit_.find(unit);
    if (found == by_unit_.end())
      throw Error(SLW_INTERNAL, cat("this stage declares no parameter of unit '", unit, "'"));
    return found->second;
  }

  // Gradients are reported to `hooks` while the result lives.
  class Reporting {
   public:
    Reporting(ReadyReport* report, slw_step_hooks* hooks, const slw_stream& stream) : report_(report) {
      *report_ = {hooks, stream};
    }
    ~Reporting() { *report_ = {}; }
    Reporting(const Reporting&) = delete;
    Reporting& operator=(const Reporting&) = delete;

   private:
    ReadyReport* report_;
  };
  Reporting report_to(slw_step_hooks* hooks, const slw_stream& stream) const { return {report_.get(), hooks, stream}; }

 private:
  void add(const slw_param_view& view) {
    const auto index = static_cast<std::size_t>(view.index);
    if (view.index < 0 || index >= names_.size() || leaves_[index].defined()) {
      throw Error(SLW_PRECONDITION, cat("bind gives parameter ", view.index, " twice or beyond ", names_.size()));
    }
    leaves_[index] = as_tensor(view.data);
    if (view.grad.data == nullptr) return;
    leaves_[index].set_requires_grad(true);
    leaves_[index].mutable_grad() = as_tensor(view.grad);
    enders_[index] = torch::autograd::impl::grad_accumulator(leaves_[index]);
    enders_[index]->add_post_hook(std::make_unique<ReadyHook>(view.index, report_));
  }
  std::vector<std::string>::const_iterator find(const std::string& name) const {
    return std::find(names_.begin(), names_.end(), name);
  }

  std::vector<std::string> names_;
  std::map<std::string, std::vector<int32_t>> by_unit_;
  std::vector<at::Tensor> leaves_;
  std::vector<std::shared_ptr<torch::autograd::Node>> enders_;  // a leaf knows its own only weakly
  std::shared_ptr<ReadyReport> report_;
};

// The parameters of one gather unit in use: acquired, and released when this ends.
class UnitUse {
 public:
  UnitUse(slw_step_hooks* hooks, const slw_stream& stream, const std::vector<int32_t>& params)
      : hooks_(SLW_HAS_FN(hooks, slw_step_hooks, param_acquire) ? hooks : nullptr), stream_(stream), params_(params) {
    if (hooks_ == nullptr) return;
    for (const int32_t index : params_) {
      void *data = nullptr, *grad = nullptr;
      call([&](slw_error* e) { return hooks_->param_acquire(hooks_, index, &stream_, &data, &grad, e); });
    }
  }
  ~UnitUse() {
    if (!SLW_HAS_FN(hooks_, slw_step_hooks, param_release)) return;
    for (const int32_t index : params_) hooks_->param_release(hooks_, index, &stream_, nullptr);
  }
  UnitUse(UnitUse&& other) noexcept
      : hooks_(std::exchange(other.hooks_, nullptr)), stream_(other.stream_), params_(other.params_) {}
  UnitUse(const UnitUse&) = delete;
  UnitUse& operator=(const UnitUse&) = delete;

 private:
  slw_step_hooks* hooks_;
  const slw_stream& stream_;
  const std::vector<int32_t>& params_;
};

// Runs `declare(stage, sink)` against a sink that only takes notes.
template <class Declare>
Declared declared_params(Declare&& declare) {
  Declared declared;
  slw_param_sink sink = make<slw_param_sink>();
  sink.impl = &declared;
  sink.add = [](slw_param_sink* self, const slw_param_decl* decl, int32_t* index, slw_error*) -> slw_status {
    auto* noted = static_cast<Declared*>(self->impl);
    *index = static_cast<int32_t>(noted->names.size());
    noted->names.emplace_back(decl->name);
    noted->units.emplace_back(decl->unit == nullptr ? "" : decl->unit);
    return SLW_OK;
  };
  sink.metric = [](slw_param_sink*, const char*, int32_t, int32_t, const char*, slw_error*) -> slw_status {
    return SLW_OK;
  };
  ParamSink params(&sink);
  declare(params);
  return declared;
}

SLW_SDK_END
