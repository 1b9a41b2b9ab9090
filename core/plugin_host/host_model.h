// A model instance behind slw_model_vtable. Every failure is an exception that names the model. Calls follow the thread
// tags of slipway/model.h: one driver thread.
#pragma once

#include <slipway/model.h>

#include <optional>
#include <string>
#include <vector>

#include "core/params/table.h"
#include "core/plugin_host/host.h"
#include "core/plugin_host/registry.h"

namespace slipway {

struct LossDeclaration {
  std::string name;
  int32_t norm = SLW_NORM_FIELD;
  std::string norm_field;
  double weight = 1.0;
  bool injected = false;
};

struct ModelDescription {
  uint32_t capabilities = 0;
  int64_t num_layers = 0, min_vocab_size = 0, max_seq_length = 0;
  uint32_t table_version = 0;
  std::vector<LossDeclaration> losses;
};

struct ActivationSpec {
  slw_dtype dtype;
  std::vector<int64_t> shape;
};
struct FieldRequest {
  std::string name;
  slw_dtype want;
  bool required;
};
struct IoSpec {
  std::vector<ActivationSpec> inputs, outputs;
  std::vector<FieldRequest> fields;
};

// Calls of one operation over one group, and the bytes that a rank hands in to all of them.
struct CommVolume {
  std::string group, op;
  int64_t calls = 0, bytes = 0;
};

// Of one microbatch on one rank of a stage, as slw_cost.
struct ModelCost {
  double flops_forward = 0, flops_backward = 0;
  int64_t saved_bytes = 0, workspace_bytes = 0;
  std::vector<CommVolume> comm, forward_comm;  // of forward and backward; of forward alone
};

class HostModel {
 public:
  HostModel(const Component& component, const Host& host, const std::string& config_json, const slw_run_info& run);
  ~HostModel();
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  ModelDescription describe() const;
  // Adds the stage's parameters and metrics as chunk `chunk`.
  void declare(const slw_stage& stage, int32_t chunk, ParamTable& table) const;
  IoSpec io_spec(const slw_stage& stage, int64_t batch_size, int64_t seq_length) const;
  // nullopt: the model does not say.
  std::optional<ModelCost> cost(const slw_stage& stage, int64_t batch_size, int64_t seq_length) const;

  // `views` are valid until unbind.
  void bind(const slw_stage& stage, const std::vector<const slw_param_view*>& views);
  void unbind(const slw_stage& stage);
  // Fills a SLW_INIT_CUSTOM parameter. Throws PluginError when the model has no init_param.
  void init_param(int32_t index, slw_tensor& local, const std::vector<int64_t>& global_offset, uint64_t key);

  void step_begin(const slw_step_info& info);
  void forward(const slw_forward_args& args);
  void backward(const slw_backward_args& args);
  void discard(const slw_stage& stage, int32_t slot);
  void step_end(const slw_step_info& info);

 private:
  const slw_model_vtable* table_;
  CallSite site_;
  slw_model* model_ = nullptr;
};

}  // namespace slipway
