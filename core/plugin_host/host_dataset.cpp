#include "core/plugin_host/host_dataset.h"

#include "core/params/read_struct.h"
#include "core/plugin_host/sink.h"

namespace slipway {
namespace {

slw_status add_field(slw_field_sink* sink, const slw_field* other, slw_error* error) {
  return sink_guard(error, [&] {
    const slw_field field = read_struct(other, "slw_field");
    check_flags(field.flags, SLW_FIELD_WHOLE_BATCH, "slw_field");
    if (field.name == nullptr || field.ndim < 0 || field.ndim > 8) throw PluginError("a batch field is malformed");
    static_cast<std::vector<FieldSpec>*>(sink->impl)
        ->push_back({field.name, field.dtype, std::vector<int64_t>(field.shape, field.shape + field.ndim),
                     (field.flags & SLW_FIELD_WHOLE_BATCH) != 0, field.seq_dim_plus_1 - 1, field.seq_dim2_plus_1 - 1});
  });
}

// Calls `fill(buffer, capacity, &needed, error)` until the text fits.
template <class Fill>
std::string read_text(const CallSite& site, const char* function, Fill&& fill) {
  std::string text(1024, '\0');
  uint64_t needed = 0;
  for (int attempt = 0; attempt < 2; ++attempt) {
    call(site, function, [&](slw_error* e) { return fill(text.data(), text.size(), &needed, e); });
    if (needed <= text.size()) return text.substr(0, text.find('\0'));
    text.assign(needed, '\0');
  }
  throw PluginError(site.component + ": " + function + " asks for more room each time");
}

}  // namespace

HostDataset::HostDataset(const Component& component, const Host& host, const std::string& config_json,
                         const slw_dataset_args& args)
    : table_(static_cast<const slw_dataset_vtable*>(component.get().vtable)), site_(component.site(ExitCode::kData)) {
  call(site_, "create",
       [&](slw_error* e) { return table_->create(host.get(), config_json.c_str(), &args, &dataset_, e); });
}

HostDataset::~HostDataset() {
  const CallMark mark = site_.mark("destroy");
  if (dataset_ != nullptr) table_->destroy(dataset_);
}

slw_dataset_info HostDataset::info() const {
  slw_dataset_info info{};
  info.struct_size = SLW_SIZE_TO(slw_dataset_info, tokenizer);
  call(site_, "info", [&](slw_error* e) { return table_->info(dataset_, &info, e); });
  return info;
}

std::vector<FieldSpec> HostDataset::fields() const {
  std::vector<FieldSpec> fields;
  slw_field_sink sink{SLW_SIZE_TO(slw_field_sink, add), 0, &fields, add_field};
  call(site_, "fields", [&](slw_error* e) { return table_->fields(dataset_, &sink, e); });
  for (const FieldSpec& field : fields) {
    for (const int64_t extent : field.shape) {
      if (extent < 1) {
        throw Error(ExitCode::kData, site_.component + ": field '" + field.name +
                                         "' has a shape of its own in each batch; this host wants fixed shapes");
      }
    }
  }
  return fields;
}

void HostDataset::prepare(const slw_build_args& args) {
  if ((table_->flags & SLW_DS_NEEDS_PREPARE) == 0 || !SLW_HAS_FN(table_, slw_dataset_vtable, prepare)) return;
  call(site_, "prepare", [&](slw_error* e) { return table_->prepare(dataset_, &args, e); });
}

void HostDataset::build(const slw_build_args& args) {
  call(site_, "build", [&](slw_error* e) { return table_->build(dataset_, &args, e); });
}

void HostDataset::get(const std::vector<int64_t>& indices, const std::vector<slw_tensor*>& outs) const {
  slw_get_args args{};
  args.struct_size = SLW_SIZE_TO(slw_get_args, dims);
  args.indices = indices.data();
  args.n = static_cast<int64_t>(indices.size());
  args.num_fields = static_cast<uint32_t>(outs.size());
  args.outs = outs.data();
  call(site_, "get", [&](slw_error* e) { return table_->get(dataset_, &args, e); });
}

std::string HostDataset::describe_sample(int64_t index) const {
  if (!SLW_HAS_FN(table_, slw_dataset_vtable, describe_sample)) return "";
  return read_text(site_, "describe_sample", [&](char* text, uint64_t capacity, uint64_t* needed, slw_error* e) {
    return table_->describe_sample(dataset_, index, text, capacity, needed, e);
  });
}

std::string HostDataset::fingerprint() const {
  if (!SLW_HAS_FN(table_, slw_dataset_vtable, fingerprint)) return "";
  return read_text(site_, "fingerprint", [&](char* text, uint64_t capacity, uint64_t* needed, slw_error* e) {
    return table_->fingerprint(dataset_, text, capacity, needed, e);
  });
}

}  // namespace slipway
