// Turns a class with plain member functions into a dataset component. The class D has
//
//   static constexpr uint32_t kFlags;                     SLW_DS_*
//   D(slw::Host, const slw::Config&, const slw_dataset_args&);
//   slw_dataset_info info() const;                        start from slw::make<slw_dataset_info>()
//   void fields(slw::Fields&) const;
//   void build(const slw_build_args&);
//   void get(const slw_get_args&) const;
// and, if it wants,
//   void prepare(const slw_build_args&);   void batch_shape(const slw_get_args&) const;
//   std::string describe_sample(int64_t index) const;     JSON text
//   std::string fingerprint() const;
//
// All of them may throw slw::Error.
#pragma once

#include <slipway/sdk/config.hpp>
#include <slipway/sdk/host.hpp>
#include <slipway/sdk/tensor.hpp>

SLW_SDK_BEGIN

// What fields() fills. Borrowed for the call.
class Fields {
 public:
  explicit Fields(slw_field_sink* sink) : sink_(sink) { check_struct(sink); }
  // seq_dim_plus_1: which dimension context parallelism cuts, counted from 1; 0: none.
  void add(const char* name, slw_dtype dtype, const std::vector<int64_t>& shape, int32_t seq_dim_plus_1 = 0) {
    slw_field field = make<slw_field>();
    field.name = name;
    field.dtype = dtype;
    field.ndim = static_cast<int32_t>(shape.size());
    field.shape = shape.data();
    field.seq_dim_plus_1 = seq_dim_plus_1;
    add(field);
  }
  void add(const slw_field& field) {
    call([&](slw_error* e) { return sink_->add(sink_, &field, e); });
  }

 private:
  slw_field_sink* sink_;
};

SLW_SDK_DETECT(prepare);
SLW_SDK_DETECT(batch_shape);
SLW_SDK_DETECT(describe_sample);
SLW_SDK_DETECT(fingerprint);

template <class D>
class DatasetOf {
 public:
  static constexpr slw_dataset_vtable table() {
    slw_dataset_vtable t = make<slw_dataset_vtable>();
    t.flags = D::kFlags;
    t.create = create;
    t.destroy = destroy;
    t.info = info;
    t.fields = fields;
    t.build = build;
    t.get = get;
    if constexpr (has_prepare<D>) t.prepare = prepare;
    if constexpr (has_batch_shape<D>) t.batch_shape = batch_shape;
    if constexpr (has_describe_sample<D>) t.describe_sample = describe_sample;
    if constexpr (has_fingerprint<D>) t.fingerprint = fingerprint;
    static_assert(has_prepare<D> || (D::kFlags & SLW_DS_NEEDS_PREPARE) == 0, "SLW_DS_NEEDS_PREPARE needs prepare()");
    return t;
  }

 private:
  static D& self(slw_dataset* d) noexcept { return *reinterpret_cast<D*>(d); }

  static slw_status create(const slw_host* host, const char* json, const slw_dataset_args* args, slw_dataset** out,
                           slw_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      *out = reinterpret_cast<slw_dataset*>(new D(Host(host), Config(json), checked(args)));
    });
  }
  static void destroy(slw_dataset* d) { delete &self(d); }
  static slw_status info(slw_dataset* d, slw_dataset_info* out, slw_error* error) {
    return guard(error, [&] { copy_out(self(d).info(), out); });
  }
  static slw_status fields(slw_dataset* d, slw_field_sink* sink, slw_error* error) {
    return guard(error, [&] {
      Fields fields(sink);
      self(d).fields(fields);
    });
  }
  static slw_status prepare(slw_dataset* d, const slw_build_args* args, slw_error* error) {
    return guard(error, [&] { self(d).prepare(checked(args)); });
  }
  static slw_status build(slw_dataset* d, const slw_build_args* args, slw_error* error) {
    return guard(error, [&] { self(d).build(checked(args)); });
  }
  static slw_status get(slw_dataset* d, const slw_get_args* args, slw_error* error) {
    return guard(error, [&] { self(d).get(checked(args)); });
  }
  static slw_status batch_shape(slw_dataset* d, const slw_get_args* args, slw_error* error) {
    return guard(error, [&] { self(d).batch_shape(checked(args)); });
  }
  static slw_status describe_sample(slw_dataset* d, int64_t index, char* json, uint64_t capacity, uint64_t* needed,
                                    slw_error* error) {
    return guard(error, [&] { copy_text(self(d).describe_sample(index), json, capacity, needed); });
  }
  static slw_status fingerprint(slw_dataset* d, char* text, uint64_t capacity, uint64_t* needed, slw_error* error) {
    return guard(error, [&] { copy_text(self(d).fingerprint(), text, capacity, needed); });
  }
};

SLW_SDK_END
