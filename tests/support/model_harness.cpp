#include "tests/support/model_harness.h"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/config/section.h"
#include "core/params/init.h"
#include "core/plugin_host/option_specs.h"
#include "core/plugin_host/registry.h"

namespace slipway {
namespace {

constexpr slw_dtype kF32{SLW_CODE_FLOAT, 32, 1}, kF64{SLW_CODE_FLOAT, 64, 1}, kI64{SLW_CODE_INT, 64, 1};
constexpr slw_device kCpu{SLW_DEVICE_CPU, 0};

// A contiguous tensor over memory of somebody else.
struct TensorView {
  TensorView(const void* data, slw_dtype dtype, std::vector<int64_t> dims) : shape(std::move(dims)) {
    strides.resize(shape.size());
    int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
    tensor = {const_cast<void*>(data), kCpu, static_cast<int32_t>(shape.size()), dtype, shape.data(),
              strides.data(),          0};
  }
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;

  std::vector<int64_t> shape, strides;
  slw_tensor tensor;
};

// Offsets in the padded tensor of the logical elements, in their row-major order.
std::vector<std::size_t> logical_offsets(const ParamDeclaration& param) {
  const std::vector<int64_t>&logical = param.global_shape(), &padded = param.padded_shape();
  std::vector<std::size_t> offsets(static_cast<std::size_t>(element_count(logical)));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t offset = 0, stride = 1;
    for (std::size_t d = logical.size(); d-- > 0; rest /= logical[d], stride *= padded[d]) {
      offset += rest % logical[d] * stride;
    }
    offsets[i] = static_cast<std::size_t>(offset);
  }
  return offsets;
}

// The registry and everything loaded stay for the life of the process.
Component find_model(const std::string& name) {
  static auto* reporter = new Reporter(-1);
  const char* build = std::getenv("SLIPWAY_BUILD_DIR");
  SLW_CHECK(build != nullptr);
  static auto* registry =
      new PluginRegistry({std::string(build) + "/lib/slipway/plugins"}, SLIPWAY_TORCH_BUILD, *reporter);
  return registry->find(SLW_KIND_MODEL, name);
}

slw_run_info run_info(const ModelSetup& setup) {
  slw_run_info run{};
  run.struct_size = SLW_SIZE_TO(slw_run_info, run_json);
  run.tp_size = run.cp_size = run.ep_size = run.dp_size = run.etp_size = run.edp_size = run.vpp_size = 1;
  run.pp_size = setup.num_stages;
  run.pp_rank = run.dp_rank = run.tp_rank = setup.rank_noise;
  run.seq_length = setup.seq_length;
  run.micro_batch_size = setup.batch_size;
  run.vocab_size = setup.vocab_size;
  run.padded_vocab_size = std::max(setup.vocab_size, setup.padded_vocab_size);
  run.param_dtype = run.grad_dtype = kF32;
  run.device = kCpu;
  run.seed = setup.seed;
  run.run_json = "{}";
  return run;
}

}  // namespace

struct ModelHarness::Buffer {
  const Param* param;
  AlignedBuffer data, grad;
};

struct ModelHarness::Stage {
  ModelHarness* owner;
  slw_stage stage;
  ParamTable table;
  std::deque<Buffer> buffers;  // by Param::index
  std::deque<TensorView> tensors;
  std::deque<slw_param_view> views;

  static slw_status on_ready(slw_step_hooks* hooks, int32_t index, const slw_stream*, slw_error*) {
    Stage& self = *static_cast<Stage*>(hooks->impl);
    const std::string& name = self.table.by_use(0, index).name();
    self.owner->ready_.push_back(name);
    if (self.owner->setup_.keeps_ready_gradients) self.owner->ready_gradients_[name] = self.owner->gradient(name);
    return SLW_OK;
  }
};

// One microbatch in flight, with the activations between its stages and their gradients.
struct ModelHarness::Pass {
  ModelBatch batch;
  slw_batch view{};
  std::map<std::string, std::unique_ptr<TensorView>> fields;
  std::vector<AlignedBuffer> activations, gradients;  // [i]: between stage i and i + 1
  std::vector<int64_t> shape;

  static const slw_tensor* get(const slw_batch* batch, const char* name) {
    const auto& fields = static_cast<const Pass*>(batch->impl)->fields;
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second->tensor;
  }
  void fill_fields() {
    const std::vector<int64_t> dims{batch.batch_size, batch.seq_length};
    const auto add = [&](const char* name, const auto& values, slw_dtype dtype) {
      if (!values.empty()) fields[name] = std::make_unique<TensorView>(values.data(), dtype, dims);
    };
    add("tokens", batch.tokens, kI64);
    add("labels", batch.labels, kI64);
    add("position_ids", batch.position_ids, kI64);
    add("loss_mask", batch.loss_mask, kF32);
    view = {SLW_SIZE_TO(slw_batch, get), 0, this, get};
  }
};

ModelBatch ModelBatch::sample(int64_t row) const {
  ModelBatch one;
  one.batch_size = 1;
  one.seq_length = seq_length;
  const auto cut = [&](const auto& from, auto& to) {
    if (!from.empty()) to.assign(from.begin() + row * seq_length, from.begin() + (row + 1) * seq_length);
  };
  cut(tokens, one.tokens);
  cut(labels, one.labels);
  cut(position_ids, one.position_ids);
  cut(loss_mask, one.loss_mask);
  one.sample_ids = {sample_ids[static_cast<std::size_t>(row)]};
  return one;
}

ModelHarness::ModelHarness(const ModelSetup& setup) : setup_(setup) {
  omp_set_num_threads(1);  // tests run beside one another
  Host::Services services;
  services.seed = setup.seed;
  host_ = std::make_unique<Host>(services);
  component_ = find_model(setup.model);
  const SectionPlace place{"test", "model"};
  const std::vector<OptionSpec> specs = option_specs(component_);
  options_json_ = complete_options(specs, checked_options(specs, setup.options, place), place).dump();
  model_ = std::make_unique<HostModel>(component_, *host_, options_json_, run_info(setup));
  add_stages();
}

ModelHarness::~ModelHarness() = default;

void ModelHarness::add_stages() {
  const auto layers = static_cast<int32_t>(model_->describe().num_layers);
  for (int i = 0; i < setup_.num_stages; ++i) {
    Stage& stage = stages_.emplace_back();
    stage.owner = this;
    stage.stage = {SLW_SIZE_TO(slw_stage, layer_end),
                   i,
                   setup_.num_stages,
                   i == 0,
                   i + 1 == setup_.num_stages,
                   layers * i / setup_.num_stages,
                   layers * (i + 1) / setup_.num_stages};
    model_->declare(stage.stage, 0, stage.table);
    bind(stage);
  }
}

void ModelHarness::bind(Stage& stage) {
  for (const Param& param : stage.table.params()) {
    const std::size_t bytes = static_cast<std::size_t>(param.local_numel) * sizeof(float);
    stage.buffers.push_back({&param, AlignedBuffer(bytes), AlignedBuffer(bytes)});
  }
  std::vector<const slw_param_view*> views;
  for (int32_t index = 0; index < stage.table.num_uses(0); ++index) {
    const Param& param = stage.table.by_use(0, index);
    const Buffer& buffer = stage.buffers[static_cast<std::size_t>(param.index)];
    const slw_tensor data = stage.tensors.emplace_back(buffer.data.data(), kF32, param.local.shape).tensor;
    const slw_tensor grad = stage.tensors.emplace_back(buffer.grad.data(), kF32, param.local.shape).tensor;
    views.push_back(&stage.views.emplace_back(slw_param_view{SLW_SIZE_TO(slw_param_view, grad), index, data, grad}));
  }
  model_->bind(stage.stage, views);
}

std::vector<std::string> ModelHarness::parameter_names() const {
  std::vector<std::string> names;
  for (const Stage& stage : stages_) {
    for (const Buffer& b : stage.buffers) {
      if (std::find(names.begin(), names.end(), b.param->name()) == names.end()) names.push_back(b.param->name());
    }
  }
  return names;
}

const Param& ModelHarness::declaration(const std::string& name) const {
  for (const Stage& stage : stages_) {
    for (const Buffer& b : stage.buffers) {
      if (b.param->name() == name) return *b.param;
    }
  }
  throw std::logic_error("no parameter " + name);
}

void ModelHarness::set(const std::string& name, std::span<const float> values) {
  const std::vector<std::size_t> offsets = logical_offsets(*declaration(name).declaration);
  SLW_CHECK(values.size() == offsets.size());
  for (Stage& stage : stages_) {
    for (Buffer& b : stage.buffers) {
      if (b.param->name() != name) continue;
      for (std::size_t i = 0; i < offsets.size(); ++i) b.data.as<float>()[offsets[i]] = values[i];
    }
  }
}

std::vector<float> ModelHarness::values(const std::string& name) const {
  const std::vector<std::size_t> offsets = logical_offsets(*declaration(name).declaration);
  std::vector<float> values;
  for (const Stage& stage : stages_) {
    for (const Buffer& b : stage.buffers) {
      if (b.param->name() != name || !values.empty()) continue;
      for (const std::size_t offset : offsets) values.push_back(b.data.as<float>()[offset]);
    }
  }
  return values;
}

std::vector<float> ModelHarness::gradient(const std::string& name) const {
  const std::vector<std::size_t> offsets = logical_offsets(*declaration(name).declaration);
  std::vector<float> sum(offsets.size(), 0.0f);
  for (const Stage& stage : stages_) {
    for (const Buffer& b : stage.buffers) {
      if (b.param->name() != name) continue;
      for (std::size_t i = 0; i < offsets.size(); ++i) sum[i] += b.grad.as<float>()[offsets[i]];
    }
  }
  return sum;
}

std::vector<float> ModelHarness::padding_gradient(const std::string& name) const {
  const std::vector<std::size_t> offsets = logical_offsets(*declaration(name).declaration);
  std::vector<float> padding;
  for (const Stage& stage : stages_) {
    for (const Buffer& b : stage.buffers) {
      if (b.param->name() != name) continue;
      std::vector<float> all(b.grad.as<float>().begin(), b.grad.as<float>().end());
      std::vector<bool> is_logical(all.size(), false);
      for (const std::size_t offset : offsets) is_logical[offset] = true;
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_logical[i]) padding.push_back(all[i]);
      }
    }
  }
  return padding;
}

void ModelHarness::zero_gradients() {
  for (Stage& stage : stages_) {
    for (Buffer& b : stage.buffers) std::fill(b.grad.as<float>().begin(), b.grad.as<float>().end(), 0.0f);
  }
}

void ModelHarness::initialize() {
  for (Stage& stage : stages_) {
    for (Buffer& b : stage.buffers) {
      initialize_local(*b.param, setup_.seed, b.data.as<float>().data());
    }
  }
}

PassResult ModelHarness::forward(const ModelBatch& batch, const PassOptions& options) {
  Pass& pass = passes_[options.slot];
  pass = Pass{};
  pass.batch = batch;
  pass.fill_fields();
  PassResult result;
  for (Stage& stage : stages_) run_stage(stage, pass, options, result);
  return result;
}

void ModelHarness::run_stage(Stage& stage, Pass& pass, const PassOptions& options, PassResult& result) {
  const ModelBatch& batch = pass.batch;
  const auto index = static_cast<std::size_t>(stage.stage.vp_stage);
  slw_forward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_forward_args, hooks);
  args.flags = options.flags;
  args.stage = &stage.stage;
  args.slot = options.slot;
  args.batch_size = batch.batch_size;
  args.seq_length = batch.seq_length;
  args.sample_ids = batch.sample_ids.data();
  const slw_range range{0, batch.seq_length};
  args.num_seq_ranges = 1;
  args.seq_ranges = &range;
  args.batch = &pass.view;
  args.stream.device = kCpu;

  const IoSpec spec = model_->io_spec(stage.stage, batch.batch_size, batch.seq_length);
  std::deque<TensorView> views;
  std::vector<const slw_tensor*> inputs;
  std::vector<slw_tensor*> outputs;
  if (!spec.inputs.empty()) {
    inputs.push_back(&views.emplace_back(pass.activations[index - 1].data(), kF32, spec.inputs[0].shape).tensor);
  }
  AlignedBuffer output;  // gone after forward: it belongs to the host, which may have sent it away
  if (!spec.outputs.empty()) {
    pass.shape = spec.outputs[0].shape;
    output = AlignedBuffer(static_cast<std::size_t>(element_count(pass.shape)) * sizeof(float));
    if (pass.activations.size() <= index) {
      pass.activations.emplace_back(output.bytes());
      pass.gradients.emplace_back(output.bytes());
    }
    outputs.push_back(&views.emplace_back(output.data(), kF32, pass.shape).tensor);
  }
  args.num_inputs = static_cast<uint32_t>(inputs.size());
  args.inputs = inputs.data();
  args.num_outputs = static_cast<uint32_t>(outputs.size());
  args.outputs = outputs.data();

  slw_tensor* loss = &views.emplace_back(&result.loss_sum, kF64, std::vector<int64_t>{}).tensor;
  if (stage.stage.post_process != 0) {
    args.num_losses = 1;
    args.loss_sums = &loss;
    if (options.wants_logits) {
      result.logits.resize(static_cast<std::size_t>(batch.batch_size * batch.seq_length * setup_.vocab_size));
      args.logits = &views
                         .emplace_back(result.logits.data(), kF32,
                                       std::vector<int64_t>{batch.batch_size, batch.seq_length, setup_.vocab_size})
                         .tensor;
    }
  }
  model_->forward(args);
  if (output.bytes() == 0) return;
  std::memcpy(pass.activations[index].data(), output.data(), output.bytes());
  std::fill(output.as<float>().begin(), output.as<float>().end(), std::numeric_limits<float>::quiet_NaN());
}

void ModelHarness::backward(int slot, double loss_gradient) {
  Pass& pass = passes_[slot];
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) back_stage(*stage, pass, loss_gradient);
  passes_.erase(slot);
}

void ModelHarness::back_stage(Stage& stage, Pass& pass, double loss_gradient) {
  const auto index = static_cast<std::size_t>(stage.stage.vp_stage);
  slw_step_hooks hooks{SLW_SIZE_TO(slw_step_hooks, rng_reserve), 0, &stage, Stage::on_ready, nullptr, nullptr, nullptr};
  slw_backward_args args{};
  args.struct_size = SLW_SIZE_TO(slw_backward_args, hooks);
  args.stage = &stage.stage;
  for (const auto& [slot, other] : passes_) {
    if (&other == &pass) args.slot = slot;
  }
  std::deque<TensorView> views;
  std::vector<const slw_tensor*> out;
  std::vector<slw_tensor*> in;
  if (stage.stage.post_process == 0) {
    out.push_back(&views.emplace_back(pass.gradients[index].data(), kF32, pass.shape).tensor);
  }
  if (stage.stage.pre_process == 0) {
    // Not zero: it has to be written, not added to.
    std::fill(pass.gradients[index - 1].as<float>().begin(), pass.gradients[index - 1].as<float>().end(), 1e30f);
    in.push_back(&views.emplace_back(pass.gradients[index - 1].data(), kF32, pass.shape).tensor);
  }
  args.num_grads_out = static_cast<uint32_t>(out.size());
  args.grads_out = out.data();
  args.num_grads_in = static_cast<uint32_t>(in.size());
  args.grads_in = in.data();
  const slw_tensor* loss = &views.emplace_back(&loss_gradient, kF64, std::vector<int64_t>{}).tensor;
  args.num_losses = 1;
  args.loss_grads = &loss;
  args.stream.device = kCpu;
  args.hooks = &hooks;
  model_->backward(args);
}

PassResult ModelHarness::forward_recompute_backward(const ModelBatch& batch, uint32_t flags, double loss_gradient) {
  const PassResult result = forward(batch, {0, flags | SLW_FWD_NO_SAVE, false});
  Pass& pass = passes_.at(0);
  for (auto stage = stages_.rbegin(); stage != stages_.rend(); ++stage) {
    PassResult again;
    run_stage(*stage, pass, {0, flags | SLW_FWD_RECOMPUTE, false}, again);
    back_stage(*stage, pass, loss_gradient);
  }
  passes_.erase(0);
  return result;
}

void ModelHarness::discard(int slot) {
  for (Stage& stage : stages_) model_->discard(stage.stage, slot);
  passes_.erase(slot);
}

std::vector<std::string> ModelHarness::take_ready_names() { return std::exchange(ready_, {}); }

const slw_stage& ModelHarness::stage(int index) const { return stages_[static_cast<std::size_t>(index)].stage; }

IoSpec ModelHarness::io_spec(int stage) const {
  return model_->io_spec(this->stage(stage), setup_.batch_size, setup_.seq_length);
}

slw_cost ModelHarness::cost(int stage) const {
  const auto* table = static_cast<const slw_model_vtable*>(component_.get().vtable);
  const slw_run_info run = run_info(setup_);
  const slw_io_args args{SLW_SIZE_TO(slw_io_args, seq_length), 0, &this->stage(stage), setup_.batch_size,
                         setup_.seq_length};
  slw_cost_sink sink{
      SLW_SIZE_TO(slw_cost_sink, comm), 0, nullptr,
      [](slw_cost_sink*, const char*, const char*, int64_t, int64_t, slw_error*) -> slw_status { return SLW_OK; }};
  slw_cost cost{};
  cost.struct_size = SLW_SIZE_TO(slw_cost, workspace_bytes);
  slw_model* model = nullptr;
  call(component_.site(), "create",
       [&](slw_error* e) { return table->create(host_->get(), options_json_.c_str(), &run, &model, e); });
  const slw_status status = table->cost(model, &args, &cost, &sink, nullptr);
  table->destroy(model);
  SLW_CHECK(status == SLW_OK);
  return cost;
}

}  // namespace slipway
