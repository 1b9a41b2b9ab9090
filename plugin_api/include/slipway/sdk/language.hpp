// The fields of a language dataset: tokens, labels (i64), loss_mask (f32) and position_ids (i64), in this order, each
// [seq_length] per sample. Pure functions over the caller's memory; any thread.
#pragma once

#include <slipway/sdk/dataset.hpp>

SLW_SDK_BEGIN

// Throws unless the index is in [0, size); size -1: build was not called.
inline void check_index(int64_t index, int64_t size, const char* dataset) {
  if (size < 0) throw Error(SLW_PRECONDITION, cat(dataset, ": a sample was asked for before build"));
  if (index >= 0 && index < size) return;
  throw Error(SLW_INVALID_ARGUMENT, cat(dataset, ": sample ", index, " is out of range [0, ", size, ")"));
}
inline void check_indices(const slw_get_args& args, int64_t size, const char* dataset) {
  for (int64_t i = 0; i < args.n; ++i) check_index(args.indices[i], size, dataset);
}

inline void add_language_fields(Fields& fields, int64_t seq_length) {
  fields.add("tokens", i64, {seq_length}, 1);
  fields.add("labels", i64, {seq_length}, 1);
  fields.add("loss_mask", f32, {seq_length}, 1);
  fields.add("position_ids", i64, {seq_length}, 1);
}

// The outputs of one `get`, checked against the fields that add_language_fields declares.
class LanguageOuts {
 public:
  LanguageOuts(const slw_get_args& args, int64_t seq_length) : seq_length_(seq_length) {
    if (args.num_fields != kNumFields) {
      throw Error(SLW_INVALID_ARGUMENT, cat("get: has ", args.num_fields, " fields, declared were ", kNumFields));
    }
    tokens_ = out<int64_t>(args, 0, "tokens");
    labels_ = out<int64_t>(args, 1, "labels");
    loss_mask_ = out<float>(args, 2, "loss_mask");
    position_ids_ = out<int64_t>(args, 3, "position_ids");
  }

  // Row i from seq_length + 1 tokens in order: every token counts, positions from 0. A field not wanted is skipped.
  void put(int64_t i, const std::vector<int64_t>& window) const {
    const int64_t at = i * seq_length_;
    if (tokens_ != nullptr) std::copy(window.begin(), window.end() - 1, tokens_ + at);
    if (labels_ != nullptr) std::copy(window.begin() + 1, window.end(), labels_ + at);
    if (loss_mask_ != nullptr) std::fill_n(loss_mask_ + at, seq_length_, 1.0f);
    for (int64_t t = 0; position_ids_ != nullptr && t < seq_length_; ++t) position_ids_[at + t] = t;
  }

 private:
  static constexpr uint32_t kNumFields = 4;

  template <class T>
  T* out(const slw_get_args& args, uint32_t field, const char* name) const {
    const slw_tensor* tensor = args.outs[field];
    if (tensor == nullptr) return nullptr;
    check_tensor(*tensor, DtypeOf<T>::kValue, {args.n, seq_length_}, name);
    return data<T>(*tensor);
  }

  int64_t seq_length_;
  int64_t* tokens_;
  int64_t* labels_;
  float* loss_mask_;
  int64_t* position_ids_;
};

SLW_SDK_END
