// Turns a class with plain member functions into a data-parallel backend. The class B has
//
//   B(slw::Host, const slw::Config&, const slw_run_info&);
//   void plan(slw::Items<const slw_dp_param>, slw::PlanSink&);
//   void attach(const slw_attach_args&);
//   void step_begin(const slw_stream*);
//   void grad_ready(const slw_ready_args&);
//   void grad_reduce_finish(const slw_stream*);
// and, if it wants,
//   void param_gather_start(const slw_stream*);   void param_gather_wait(int32_t param_index, const slw_stream*);
//   void unit_acquire(slw_unit_args&);            void unit_release(slw_unit_args&);
//
// All of them may throw slw::Error.
#pragma once

#include <slipway/sdk/config.hpp>
#include <slipway/sdk/host.hpp>
#include <slipway/sdk/tensor.hpp>

SLW_SDK_BEGIN

// What plan() fills. Borrowed for the call.
class PlanSink {
 public:
  explicit PlanSink(slw_plan_sink* sink) : sink_(sink) { check_struct(sink); }
  // Returns the buffer's id. Start from slw::make<slw_buffer_plan>().
  int32_t buffer(const slw_buffer_plan& plan) {
    int32_t id = -1;
    call([&](slw_error* e) { return sink_->buffer(sink_, &plan, &id, e); });
    return id;
  }
  void bucket(int32_t buffer, int64_t begin, int64_t end) {
    call([&](slw_error* e) { return sink_->bucket(sink_, buffer, begin, end, e); });
  }
  void place(int32_t param_index, int32_t buffer, int64_t offset) {
    call([&](slw_error* e) { return sink_->place(sink_, param_index, buffer, offset, e); });
  }
  void shard(int32_t param_index, int32_t owner_dp_rank, int64_t begin, int64_t end) {
    call([&](slw_error* e) { return sink_->shard(sink_, param_index, owner_dp_rank, begin, end, e); });
  }

 private:
  slw_plan_sink* sink_;
};

SLW_SDK_DETECT(param_gather_start);
SLW_SDK_DETECT(param_gather_wait);
SLW_SDK_DETECT(unit_acquire);
SLW_SDK_DETECT(unit_release);

template <class B>
class DpOf {
 public:
  static constexpr slw_dp_vtable table() {
    slw_dp_vtable t = make<slw_dp_vtable>();
    t.create = create;
    t.destroy = destroy;
    t.plan = plan;
    t.attach = attach;
    t.step_begin = step_begin;
    t.grad_ready = grad_ready;
    t.grad_reduce_finish = grad_reduce_finish;
    if constexpr (has_param_gather_start<B>) t.param_gather_start = param_gather_start;
    if constexpr (has_param_gather_wait<B>) t.param_gather_wait = param_gather_wait;
    if constexpr (has_unit_acquire<B>) t.unit_acquire = unit_acquire;
    if constexpr (has_unit_release<B>) t.unit_release = unit_release;
    static_assert(has_param_gather_start<B> == has_param_gather_wait<B>, "param_gather_start and _wait are a pair");
    static_assert(has_unit_acquire<B> == has_unit_release<B>, "unit_acquire and unit_release are a pair");
    return t;
  }

 private:
  static B& self(slw_dp* b) noexcept { return *reinterpret_cast<B*>(b); }

  static slw_status create(const slw_host* host, const char* json, const slw_run_info* run, slw_dp** out,
                           slw_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      const slw_run_info& info = checked(run, SLW_RUN_SEQUENCE_PARALLEL);
      *out = reinterpret_cast<slw_dp*>(new B(Host(host), Config(json), info));
    });
  }
  static void destroy(slw_dp* b) { delete &self(b); }
  static slw_status plan(slw_dp* b, uint32_t n, const slw_dp_param* const* params, slw_plan_sink* sink,
                         slw_error* error) {
    return guard(error, [&] {
      for (const slw_dp_param& param : items(n, params)) check_struct(&param);
      PlanSink plan(sink);
      self(b).plan(items(n, params), plan);
    });
  }
  static slw_status attach(slw_dp* b, const slw_attach_args* args, slw_error* error) {
    return guard(error, [&] {
      for (const slw_buffer& buffer : items(checked(args).num_buffers, args->buffers)) check_struct(&buffer);
      self(b).attach(*args);
    });
  }
  static slw_status step_begin(slw_dp* b, const slw_stream* stream, slw_error* error) {
    return guard(error, [&] { self(b).step_begin(stream); });
  }
  static slw_status grad_ready(slw_dp* b, const slw_ready_args* args, slw_error* error) {
    return guard(error, [&] { self(b).grad_ready(checked(args)); });
  }
  static slw_status grad_reduce_finish(slw_dp* b, const slw_stream* stream, slw_error* error) {
    return guard(error, [&] { self(b).grad_reduce_finish(stream); });
  }
  static slw_status param_gather_start(slw_dp* b, const slw_stream* stream, slw_error* error) {
    return guard(error, [&] { self(b).param_gather_start(stream); });
  }
  static slw_status param_gather_wait(slw_dp* b, int32_t param_index, const slw_stream* stream, slw_error* error) {
    return guard(error, [&] { self(b).param_gather_wait(param_index, stream); });
  }
  static slw_status unit_acquire(slw_dp* b, slw_unit_args* args, slw_error* error) {
    return guard(error, [&] {
      checked(args);
      self(b).unit_acquire(*args);
    });
  }
  static slw_status unit_release(slw_dp* b, slw_unit_args* args, slw_error* error) {
    return guard(error, [&] {
      checked(args);
      self(b).unit_release(*args);
    });
  }
};

SLW_SDK_END
