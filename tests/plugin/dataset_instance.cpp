#include "tests/plugin/dataset_instance.h"

#include <cstring>
#include <slipway/sdk/structs.hpp>

#include "tests/plugin/loaded_plugin.h"

namespace {

template <class Call>
void expect_ok(Call&& call) {
  ErrorText error;
  const slw_status status = call(error.get());
  if (status != SLW_OK) throw CallFailed(status, error.text());
}

slw_status keep_field(slw_field_sink* sink, const slw_field* field, slw_error*) {
  const std::vector<int64_t> shape(field->shape, field->shape + field->ndim);
  static_cast<std::vector<FieldSpec>*>(sink->impl)->push_back({field->name, field->dtype, shape});
  return SLW_OK;
}

// Asks twice, as a caller does who does not know the length.
template <class Call>
std::string ask_text(Call&& call) {
  uint64_t needed = 0;
  expect_ok([&](slw_error* e) { return call(nullptr, uint64_t{0}, &needed, e); });
  std::string text(needed, '\0');
  expect_ok([&](slw_error* e) { return call(text.data(), needed, &needed, e); });
  text.pop_back();
  return text;
}

}  // namespace

DatasetInstance::DatasetInstance(const slw_component& component, const std::string& config, int64_t seq_length,
                                 uint64_t seed)
    : table_(*static_cast<const slw_dataset_vtable*>(component.vtable)) {
  slw_dataset_args args = slw::make<slw_dataset_args>();
  args.seq_length = seq_length;
  args.seed = seed;
  const std::string json = complete_config(component, config);
  expect_ok([&](slw_error* e) { return table_.create(host_.get(), json.c_str(), &args, &dataset_, e); });
  read_fields();
}

DatasetInstance::~DatasetInstance() {
  if (dataset_ != nullptr) table_.destroy(dataset_);
}

void DatasetInstance::read_fields() {
  slw_field_sink sink = slw::make<slw_field_sink>();
  sink.impl = &fields_;
  sink.add = keep_field;
  expect_ok([&](slw_error* e) { return table_.fields(dataset_, &sink, e); });
}

slw_dataset_info DatasetInstance::info() const {
  slw_dataset_info info = slw::make<slw_dataset_info>();
  expect_ok([&](slw_error* e) { return table_.info(dataset_, &info, e); });
  return info;
}

void DatasetInstance::build(const BuildRange& range) {
  slw_build_args args = slw::make<slw_build_args>();
  args.split = range.split;
  args.split_begin = range.begin;
  args.split_end = range.end;
  args.num_samples = range.num_samples;
  if ((table_.flags & SLW_DS_NEEDS_PREPARE) != 0) {
    expect_ok([&](slw_error* e) { return table_.prepare(dataset_, &args, e); });
  }
  expect_ok([&](slw_error* e) { return table_.build(dataset_, &args, e); });
}

Samples DatasetInstance::get(const std::vector<int64_t>& indices) const {
  GetCall call(fields_, indices);
  expect_ok([&](slw_error* e) { return table_.get(dataset_, &call.args(), e); });
  return call.samples();
}

std::vector<int64_t> DatasetInstance::get_i64(const std::string& field, const std::vector<int64_t>& indices) const {
  const Samples samples = get(indices);
  const std::vector<unsigned char>& bytes = samples.at(field);
  std::vector<int64_t> values(bytes.size() / sizeof(int64_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string DatasetInstance::describe_sample(int64_t index) const {
  return ask_text([&](char* text, uint64_t capacity, uint64_t* needed, slw_error* e) {
    return table_.describe_sample(dataset_, index, text, capacity, needed, e);
  });
}

std::string DatasetInstance::fingerprint() const {
  return ask_text([&](char* text, uint64_t capacity, uint64_t* needed, slw_error* e) {
    return table_.fingerprint(dataset_, text, capacity, needed, e);
  });
}
