// The graph that one forward leaves for its backward: its ends only, the data of the outputs is not held.
#pragma once

#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/variable.h>

#include <slipway/sdk/structs.hpp>
#include <slipway/torch/tensor.hpp>

SLW_SDK_BEGIN

class SavedPass {
 public:
  // inputs: leaves whose gradients will be asked for. outputs, losses: what depends on them.
  SavedPass(std::vector<at::Tensor> inputs, const std::vector<at::Tensor>& outputs,
            const std::vector<at::Tensor>& losses)
      : inputs_(std::move(inputs)) {
    for (const at::Tensor& t : outputs) outputs_.push_back(end_of(t));
    for (const at::Tensor& t : losses) losses_.push_back(end_of(t));
  }

  // Adds to the parameters' gradients and writes grads_in. Throws what a backward formula or a hook throws.
  void backward(const slw_backward_args& args) {
    collect_roots(args);
    if (!roots_.empty()) {
      torch::autograd::Engine::get_default_engine().execute(roots_, seeds_, /*keep_graph=*/false,
                                                            /*create_graph=*/false, /*accumulate_grad=*/true);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) write_gradient(*args.grads_in[i], inputs_[i].grad());
  }

 private:
  using Edge = torch::autograd::Edge;

  // No function in it: nothing to differentiate there.
  static Edge end_of(const at::Tensor& t) {
    return t.defined() && t.requires_grad() ? torch::autograd::impl::gradient_edge(t) : Edge();
  }

  void collect_roots(const slw_backward_args& args) {
    check_count("grads_out", args.num_grads_out, outputs_.size());
    check_count("grads_in", args.num_grads_in, inputs_.size());
    if (!losses_.empty()) check_count("loss_grads", args.num_losses, losses_.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) add_root(outputs_[i], *args.grads_out[i]);
    for (std::size_t i = 0; i < losses_.size(); ++i) add_root(losses_[i], *args.loss_grads[i]);
  }
  static void check_count(const char* what, uint32_t given, std::size_t wanted) {
    if (given != wanted)
      throw Error(SLW_INVALID_ARGUMENT, cat("backward gets ", given, " ", what, ", wanted ", wanted));
  }
  void add_root(const Edge& edge, const slw_tensor& seed) {
    if (!edge.is_valid()) return;
    roots_.push_back(edge);
    seeds_.push_back(as_tensor(seed));
  }
  static void write_gradient(const slw_tensor& to, const at::Tensor& gradient) {
    if (gradient.defined()) {
      copy_into(to, gradient, "a gradient of an input");
    } else {
      as_tensor(to).zero_();
    }
  }

  std::vector<at::Tensor> inputs_;
  std::vector<Edge> outputs_, losses_;
  std::vector<Edge> roots_;
  std::vector<at::Tensor> seeds_;
};

SLW_SDK_END
