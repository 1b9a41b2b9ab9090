// Turns a class with plain member functions into a tokenizer component. The class T has
//
//   T(slw::Host, const slw::Config&);
//   slw_tokenizer_info info() const;                                    start from slw::tokenizer_info(vocab_size)
//   std::vector<int64_t> encode(const char* text, std::size_t size) const;
//   std::string decode(const int64_t* ids, std::size_t count) const;    ids are inside the vocabulary
//
// All of them may throw slw::Error; info, encode and decode run on several threads at once.
#pragma once

#include <slipway/tokenizer.h>

#include <slipway/sdk/config.hpp>
#include <slipway/sdk/host.hpp>
#include <string>
#include <vector>

SLW_SDK_BEGIN

// Without special ids.
inline slw_tokenizer_info tokenizer_info(int64_t vocab_size) {
  slw_tokenizer_info info = make<slw_tokenizer_info>();
  info.vocab_size = vocab_size;
  info.eod_id = info.pad_id = info.cls_id = info.sep_id = info.mask_id = -1;
  return info;
}

template <class T>
class TokenizerOf {
 public:
  static constexpr slw_tokenizer_vtable table() {
    slw_tokenizer_vtable t = make<slw_tokenizer_vtable>();
    t.create = create;
    t.destroy = destroy;
    t.info = info;
    t.encode = encode;
    t.decode = decode;
    return t;
  }

 private:
  static const T& self(const slw_tokenizer* t) noexcept { return *reinterpret_cast<const T*>(t); }

  static slw_status create(const slw_host* host, const char* json, slw_tokenizer** out, slw_error* error) {
    return guard(error, [&] {
      *out = nullptr;
      *out = reinterpret_cast<slw_tokenizer*>(new T(Host(host), Config(json)));
    });
  }
  static void destroy(slw_tokenizer* t) { delete reinterpret_cast<T*>(t); }
  static slw_status info(const slw_tokenizer* t, slw_tokenizer_info* out, slw_error* error) {
    return guard(error, [&] { copy_out(self(t).info(), out); });
  }
  static slw_status encode(const slw_tokenizer* t, const char* text, uint64_t size, int64_t* ids, uint64_t capacity,
                           uint64_t* needed, slw_error* error) {
    return guard(error, [&] {
      const std::vector<int64_t> all = self(t).encode(text, static_cast<std::size_t>(size));
      give(all.data(), all.size(), ids, capacity, needed);
    });
  }
  static slw_status decode(const slw_tokenizer* t, const int64_t* ids, uint64_t count, char* text, uint64_t capacity,
                           uint64_t* needed, slw_error* error) {
    return guard(error, [&] {
      const int64_t vocab_size = self(t).info().vocab_size;
      for (uint64_t i = 0; i < count; ++i) {
        if (ids[i] >= 0 && ids[i] < vocab_size) continue;
        throw Error(SLW_INVALID_ARGUMENT, cat("id ", ids[i], " at place ", i, " is outside [0, ", vocab_size, ")"));
      }
      const std::string all = self(t).decode(ids, static_cast<std::size_t>(count));
      give(all.data(), all.size(), text, capacity, needed);
    });
  }

  template <class Item>
  static void give(const Item* all, std::size_t count, Item* to, uint64_t capacity, uint64_t* needed) {
    if (needed != nullptr) *needed = count;
    if (to != nullptr && capacity > 0) std::copy_n(all, std::min<uint64_t>(count, capacity), to);
  }
};

SLW_SDK_END
