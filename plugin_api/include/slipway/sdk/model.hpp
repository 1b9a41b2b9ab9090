// Turns a class with plain member functions into a model component. The class M has
//
//   M(slw::Host, const slw::Config&, const slw_run_info&);
//   slw_model_info describe();                            start from slw::make<slw_model_info>(); see Losses
//   void declare(const slw_stage&, slw::ParamSink&);
//   void io_spec(const slw_io_args&, slw::IoSink&);
//   void bind(const slw_bind_args&);
//   void forward(const slw_forward_args&);
//   void backward(const slw_backward_args&);
//   void discard(const slw_stage&, int32_t slot) noexcept;
// and, if it wants,
//   slw_cost cost(const slw_io_args&, slw::CostSink&);    start from slw::make<slw_cost>()
//   void unbind(const slw_stage&);
//   void init_param(int32_t index, slw_tensor& local, const int64_t* global_offset, uint64_t key);
//   void step_begin(const slw_step_info&);   void step_end(const slw_step_info&);
//
// All but discard may throw slw::Error.
#pragma once

#include <slipway/sdk/config.hpp>
#include <slipway/sdk/host.hpp>
#include <slipway/sdk/params.hpp>
#include <slipway/sdk/tensor.hpp>

SLW_SDK_BEGIN

// The losses of a model, for slw_model_info: keep it as a member, the info points into it. Texts are static.
class Losses {
 public:
  // norm: SLW_NORM_*; norm_field: the batch field whose sum divides, for SLW_NORM_FIELD.
  void add(const char* name, int32_t norm, const char* norm_field = nullptr, double weight = 0, uint32_t flags = 0) {
    slw_loss_decl row = make<slw_loss_decl>();
    row.flags = flags;
    row.name = name;
    row.norm = norm;
    row.norm_field = norm_field;
    row.weight = weight;
    rows_.push_back(row);
  }
  void put_into(slw_model_info& info) {
    pointers_.clear();
    for (const slw_loss_decl& row : rows_) pointers_.push_back(&row);
    info.num_losses = static_cast<uint32_t>(rows_.size());
    info.losses = pointers_.data();
  }

 private:
  std::vector<slw_loss_decl> rows_;
  std::vector<const slw_loss_decl*> pointers_;
};

// What io_spec() fills. Borrowed for the call.
class IoSink {
 public:
  explicit IoSink(slw_io_sink* sink) : sink_(sink) { check_struct(sink); }
  void input(slw_dtype dtype, const std::vector<int64_t>& shape) { activation(0, dtype, shape); }
  void output(slw_dtype dtype, const std::vector<int64_t>& shape) { activation(1, dtype, shape); }
  void required_field(const char* name, slw_dtype want = any_dtype) { field(name, want, 1); }
  void optional_field(const char* name, slw_dtype want = any_dtype) { field(name, want, 0); }

 private:
  void activation(int32_t is_output, slw_dtype dtype, const std::vector<int64_t>& shape) {
    const int32_t ndim = static_cast<int32_t>(shape.size());
    call([&](slw_error* e) { return sink_->activation(sink_, is_output, dtype, ndim, shape.data(), e); });
  }
  void field(const char* name, slw_dtype want, int32_t required) {
    call([&](slw_error* e) { return sink_->batch_field(sink_, name, want, required, e); });
  }
  slw_io_sink* sink_;
};

// What cost() reports of its communication. Borrowed for the call.
class CostSink {
 public:
  explicit CostSink(slw_cost_sink* sink) : sink_(sink) { check_struct(sink); }
  // `calls` operations ("all_reduce") over `group`, to which this rank hands in `bytes` altogether.
  void comm(const char* group, const char* op, int64_t calls, int64_t bytes) {
    call([&](slw_error* e) { return sink_->comm(sink_, group, op, calls, bytes, e); });
  }

 private:
  slw_cost_sink* sink_;
};

// A field of the batch that io_spec asked for as required. Throws when the host does not give it.
inline const slw_tensor& batch_field(const slw_batch& batch, const char* name) {
  const slw_tensor* tensor = batch.get(&batch, name);
  if (tensor == nullptr) throw Error(SLW_PRECONDITION, cat("the batch has no field '", name, "'"));
  return *tensor;
}

SLW_SDK_DETECT(cost);
SLW_SDK_DETECT(unbind);
SLW_SDK_DETECT(init_param);
SLW_SDK_DETECT(step_begin);
SLW_SDK_DETECT(step_end);

template <class M>
class ModelOf {
 public:
  static constexpr slw_model_vtable table() {
    slw_model_vtable t = make<slw_model_vtable>();
    t.create = create;
    t.destroy = destroy;
    t.describe = describe;
    t.declare = declare;
    t.io_spec = io_spec;
    t.bind = bind;
    t.forward = forward;
    t.backward = backward;
    t.discard = discard;
    if constexpr (has_cost<M>) t.cost = cost;
    if constexpr (has_unbind<M>) t.unbind = unbind;
    if constexpr (has_init_param<M>) t.init_param = init_param;
    if constexpr (has_step_begin<M>) t.step_begin = step_begin;
    if constexpr (has_step_end<M>) t.step_end = step_end;
    return t;
  }

 private:
  static constexpr uint32_t kForwardFlags = SLW_FWD_TRAIN | SLW_FWD_NO_SAVE | SLW_FWD_RECOMPUTE;
  static M& self(slw_model* m) noexcept { return *reinterpret_cast<M*>(m); }

  static slw_status create(const slw_host* host, const char* json, const slw_run_info* run, slw_model** out,
                           slw_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      const slw_run_info& info = checked(run, SLW_RUN_SEQUENCE_PARALLEL);
      *out = reinterpret_cast<slw_model*>(new M(Host(host), Config(json), info));
    });
  }
  static void destroy(slw_model* m) { delete &self(m); }
  static slw_status describe(slw_model* m, slw_model_info* out, slw_error* error) {
    return guard(error, [&] { copy_out(self(m).describe(), out); });
  }
  static slw_status declare(slw_model* m, const slw_stage* stage, slw_param_sink* sink, slw_error* error) {
    return guard(error, [&] {
      check_struct(stage);
      ParamSink params(sink);
      self(m).declare(*stage, params);
    });
  }
  static slw_status io_spec(slw_model* m, const slw_io_args* args, slw_io_sink* sink, slw_error* error) {
    return guard(error, [&] {
      IoSink io(sink);
      self(m).io_spec(staged(args), io);
    });
  }
  static slw_status cost(slw_model* m, const slw_io_args* args, slw_cost* out, slw_cost_sink* sink, slw_error* error) {
    return guard(error, [&] {
      CostSink costs(sink);
      copy_out(self(m).cost(staged(args, SLW_COST_FORWARD_COMM), costs), out);
    });
  }
  static slw_status bind(slw_model* m, const slw_bind_args* args, slw_error* error) {
    return guard(error, [&] {
      for (const slw_param_view& view : items(staged(args).num_params, args->params)) check_struct(&view);
      self(m).bind(*args);
    });
  }
  static slw_status unbind(slw_model* m, const slw_stage* stage, slw_error* error) {
    return guard(error, [&] {
      check_struct(stage);
      self(m).unbind(*stage);
    });
  }
  static slw_status init_param(slw_model* m, int32_t index, slw_tensor* local, const int64_t* global_offset,
                               uint64_t key, slw_error* error) {
    return guard(error, [&] { self(m).init_param(index, *local, global_offset, key); });
  }
  static slw_status step_begin(slw_model* m, const slw_step_info* info, slw_error* error) {
    return guard(error, [&] { self(m).step_begin(checked(info)); });
  }
  static slw_status forward(slw_model* m, const slw_forward_args* args, slw_error* error) {
    return guard(error, [&] { self(m).forward(staged(args, kForwardFlags)); });
  }
  static slw_status backward(slw_model* m, const slw_backward_args* args, slw_error* error) {
    return guard(error, [&] { self(m).backward(staged(args)); });
  }
  static void discard(slw_model* m, const slw_stage* stage, int32_t slot) {
    static_assert(noexcept(self(m).discard(*stage, slot)), "discard() must be noexcept: it cannot report a failure");
    self(m).discard(*stage, slot);
  }
  static slw_status step_end(slw_model* m, const slw_step_info* info, slw_error* error) {
    return guard(error, [&] { self(m).step_end(checked(info)); });
  }

  // Checks args and the stage in them.
  template <class Args>
  static const Args& staged(const Args* args, uint32_t known_flags = 0) {
    checked(args, known_flags);
    check_struct(args->stage);
    return *args;
  }
};

SLW_SDK_END
