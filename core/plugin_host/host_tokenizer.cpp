#include "core/plugin_host/host_tokenizer.h"

namespace slipway {
namespace {

// An answer this much larger than a guess is asked for again; what is larger still is a plugin that has lost its way.
constexpr uint64_t kMostItems = uint64_t{1} << 32;

// call(items, capacity, &needed) until the answer fits.
template <class Container, class Call>
Container whole_answer(const CallSite& site, const char* function, uint64_t guess, Call&& one_call) {
  Container answer;
  for (uint64_t capacity = guess;;) {
    answer.resize(static_cast<size_t>(capacity));
    uint64_t needed = 0;
    call(site, function, [&](slw_error* e) { return one_call(answer.data(), capacity, &needed, e); });
    if (needed > kMostItems) throw PluginError(site.component + ": " + function + " gives too much");
    const bool fits = needed <= capacity;
    answer.resize(static_cast<size_t>(needed));
    if (fits) return answer;
    capacity = needed;
  }
}

}  // namespace

HostTokenizer::HostTokenizer(const Component& component, const Host& host, const std::string& config_json)
    : table_(static_cast<const slw_tokenizer_vtable*>(component.get().vtable)), site_(component.site()) {
  call(site_, "create", [&](slw_error* e) { return table_->create(host.get(), config_json.c_str(), &tokenizer_, e); });
}

HostTokenizer::~HostTokenizer() {
  if (tokenizer_ != nullptr) table_->destroy(tokenizer_);
}

slw_tokenizer_info HostTokenizer::info() const {
  slw_tokenizer_info info{};
  info.struct_size = SLW_SIZE_TO(slw_tokenizer_info, mask_id);
  call(site_, "info", [&](slw_error* e) { return table_->info(tokenizer_, &info, e); });
  if (info.vocab_size < 1) throw PluginError(site_.component + " says that its vocabulary is empty");
  return info;
}

std::vector<int64_t> HostTokenizer::encode(std::string_view text) const {
  return whole_answer<std::vector<int64_t>>(
      site_, "encode", text.size(), [&](int64_t* ids, uint64_t capacity, uint64_t* needed, slw_error* e) {
        return table_->encode(tokenizer_, text.data(), text.size(), ids, capacity, needed, e);
      });
}

std::string HostTokenizer::decode(std::span<const int64_t> ids) const {
  return whole_answer<std::string>(
      site_, "decode", 8 * ids.size(), [&](char* text, uint64_t capacity, uint64_t* needed, slw_error* e) {
        return table_->decode(tokenizer_, ids.data(), ids.size(), text, capacity, needed, e);
      });
}

}  // namespace slipway
