// Growing structs: what this SDK knows of each, zeroed instances, and the checks a reader owes to what it is given.
// Pure functions; any thread.
#pragma once

#include <slipway/dataset.h>
#include <slipway/dp.h>
#include <slipway/model.h>
#include <slipway/optimizer.h>
#include <slipway/tokenizer.h>
#include <slipway/sdk/error.hpp>

#include <type_traits>

SLW_SDK_BEGIN

template <class T>
struct Known;  // kSize: size of T up to its last field; kName

// The assert catches a field that was appended to a header but not here.
#define SLW_SDK_STRUCT(T, last)                                                                    \
  template <>                                                                                      \
  struct Known<T> {                                                                                \
    static constexpr uint32_t kSize = SLW_SIZE_TO(T, last);                                        \
    static constexpr const char* kName = #T;                                                       \
    static_assert((kSize + alignof(T) - 1) / alignof(T) * alignof(T) == sizeof(T), #T ": " #last); \
  }

SLW_SDK_STRUCT(slw_error, needed);
SLW_SDK_STRUCT(slw_option, aliases);
SLW_SDK_STRUCT(slw_host, free);
SLW_SDK_STRUCT(slw_component, vtable);
SLW_SDK_STRUCT(slw_plugin, deinit);
SLW_SDK_STRUCT(slw_comm, work_release);
SLW_SDK_STRUCT(slw_rng, key);
SLW_SDK_STRUCT(slw_metrics, deposit);
SLW_SDK_STRUCT(slw_threads, parallel_for);
SLW_SDK_STRUCT(slw_dataset_args, cache_dir);
SLW_SDK_STRUCT(slw_build_args, num_samples);
SLW_SDK_STRUCT(slw_dataset_info, tokenizer);
SLW_SDK_STRUCT(slw_field, seq_dim2_plus_1);
SLW_SDK_STRUCT(slw_field_sink, add);
SLW_SDK_STRUCT(slw_get_args, dims);
SLW_SDK_STRUCT(slw_dataset_vtable, fingerprint);
SLW_SDK_STRUCT(slw_run_info, run_json);
SLW_SDK_STRUCT(slw_stage, layer_end);
SLW_SDK_STRUCT(slw_loss_decl, weight);
SLW_SDK_STRUCT(slw_model_info, losses);
SLW_SDK_STRUCT(slw_cut, parts);
SLW_SDK_STRUCT(slw_block, rows);
SLW_SDK_STRUCT(slw_param_decl, former_names);
SLW_SDK_STRUCT(slw_param_sink, metric);
SLW_SDK_STRUCT(slw_io_args, seq_length);
SLW_SDK_STRUCT(slw_io_sink, batch_field);
SLW_SDK_STRUCT(slw_cost, workspace_bytes);
SLW_SDK_STRUCT(slw_cost_sink, comm);
SLW_SDK_STRUCT(slw_param_view, grad);
SLW_SDK_STRUCT(slw_bind_args, params);
SLW_SDK_STRUCT(slw_step_hooks, rng_reserve);
SLW_SDK_STRUCT(slw_batch, get);
SLW_SDK_STRUCT(slw_forward_args, hooks);
SLW_SDK_STRUCT(slw_backward_args, hooks);
SLW_SDK_STRUCT(slw_step_info, stream);
SLW_SDK_STRUCT(slw_model_vtable, step_end);
SLW_SDK_STRUCT(slw_state_sink, slot);
SLW_SDK_STRUCT(slw_shard, step);
SLW_SDK_STRUCT(slw_opt_step_args, stream);
SLW_SDK_STRUCT(slw_optimizer_vtable, step);
SLW_SDK_STRUCT(slw_dp_param, group);
SLW_SDK_STRUCT(slw_buffer_plan, chunk);
SLW_SDK_STRUCT(slw_plan_sink, shard);
SLW_SDK_STRUCT(slw_buffer, grad);
SLW_SDK_STRUCT(slw_pool, give);
SLW_SDK_STRUCT(slw_attach_args, pool);
SLW_SDK_STRUCT(slw_unit_args, grad);
SLW_SDK_STRUCT(slw_ready_args, stream);
SLW_SDK_STRUCT(slw_dp_vtable, unit_release);
SLW_SDK_STRUCT(slw_tokenizer_info, mask_id);
SLW_SDK_STRUCT(slw_tokenizer_vtable, decode);
#undef SLW_SDK_STRUCT

// An all-zero T (the plain default of every field) with its struct_size set.
template <class T>
constexpr T make() noexcept {
  T value{};
  value.struct_size = Known<T>::kSize;
  return value;
}

// Throws SLW_UNSUPPORTED when `flags` has a must-understand bit (0-15) outside `known`.
inline void check_flags(uint32_t flags, uint32_t known, const char* what) {
  const uint32_t unknown = flags & 0xFFFFu & ~known;
  if (unknown != 0) throw Error(SLW_UNSUPPORTED, cat(what, ": flag bits ", unknown, " are not known to this plugin"));
}

// Throws unless `given` is a T that this SDK can read: there, large enough, and with nothing but zeros beyond what the
// SDK knows.
template <class T>
void check_struct(const T* given) {
  const char* name = Known<T>::kName;
  if (given == nullptr) throw Error(SLW_INVALID_ARGUMENT, cat(name, ": NULL"));
  const uint32_t size = given->struct_size;
  if (size < Known<T>::kSize || size > 65536) {
    throw Error(SLW_UNSUPPORTED, cat(name, ": struct_size is ", size, ", this plugin needs ", Known<T>::kSize));
  }
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(given);
  for (uint32_t i = Known<T>::kSize; i < size; ++i) {
    if (bytes[i] != 0) throw Error(SLW_UNSUPPORTED, cat(name, ": uses a field that is not known to this plugin"));
  }
}

// check_struct, and check_flags of its flags.
template <class T>
const T& checked(const T* given, uint32_t known_flags = 0) {
  check_struct(given);
  check_flags(given->flags, known_flags, Known<T>::kName);
  return *given;
}

// Copies an answer into the caller's struct, as far as the caller knows it.
template <class T>
void copy_out(const T& answer, T* out) {
  if (out == nullptr) throw Error(SLW_INVALID_ARGUMENT, cat(Known<T>::kName, ": NULL"));
  const uint32_t size = std::min(out->struct_size, Known<T>::kSize);
  constexpr uint32_t kHead = sizeof answer.struct_size;
  if (size <= kHead) return;
  std::memcpy(reinterpret_cast<char*>(out) + kHead, reinterpret_cast<const char*>(&answer) + kHead, size - kHead);
}

// Copies a text answer: `needed` gets its length with NUL, `to` as much of it as fits.
inline void copy_text(const std::string& answer, char* to, uint64_t capacity, uint64_t* needed) {
  if (needed != nullptr) *needed = answer.size() + 1;
  if (to == nullptr || capacity == 0) return;
  const std::size_t bytes = fitting_bytes(answer.c_str(), answer.size(), static_cast<std::size_t>(capacity - 1));
  std::memcpy(to, answer.data(), bytes);
  to[bytes] = '\0';
}

// A range over an array of pointers to structs: for (const slw_shard& shard : items(args.num_shards, args.shards)).
template <class T>
class Items {
 public:
  class Iterator {
   public:
    explicit Iterator(T* const* at) : at_(at) {}
    T& operator*() const { return **at_; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    T* const* at_;
  };

  Items(std::size_t size, T* const* data) : size_(size), data_(data) {}
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) const { return *data_[i]; }
  Iterator begin() const { return Iterator(data_); }
  Iterator end() const { return Iterator(data_ + size_); }

 private:
  std::size_t size_;
  T* const* data_;
};
template <class T>
Items<T> items(std::size_t size, T* const* data) {
  return Items<T>(size, data);
}

// Looks an optional member function up by its name alone: SLW_SDK_DETECT(prepare) makes has_prepare<T>, true also for
// one that is private or overloaded, so that a wrong declaration fails to compile instead of being passed over. It
// works because a name that two bases have is ambiguous; T must not be final.
#define SLW_SDK_DETECT(member)                                                                   \
  struct Probe_##member {                                                                        \
    int member;                                                                                  \
  };                                                                                             \
  template <class T>                                                                             \
  struct Both_##member : T, Probe_##member {};                                                   \
  template <class T, class = void>                                                               \
  struct Has_##member : std::true_type {};                                                       \
  template <class T>                                                                             \
  struct Has_##member<T, std::void_t<decltype(&Both_##member<T>::member)>> : std::false_type {}; \
  template <class T>                                                                             \
  inline constexpr bool has_##member = Has_##member<T>::value

SLW_SDK_END
