// Typed access to slw_tensor views. Pure functions; any thread.
#pragma once

#include <slipway/sdk/error.hpp>

#include <initializer_list>
#include <vector>

SLW_SDK_BEGIN

inline constexpr slw_dtype i64{SLW_CODE_INT, 64, 1}, i32{SLW_CODE_INT, 32, 1}, u8{SLW_CODE_UINT, 8, 1};
inline constexpr slw_dtype f64{SLW_CODE_FLOAT, 64, 1}, f32{SLW_CODE_FLOAT, 32, 1}, f16{SLW_CODE_FLOAT, 16, 1};
inline constexpr slw_dtype bf16{SLW_CODE_BFLOAT, 16, 1};
inline constexpr slw_dtype any_dtype{0, 0, 0};  // "as the run says" or "as it comes"

constexpr bool same_dtype(slw_dtype a, slw_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
constexpr int64_t dtype_bytes(slw_dtype d) { return (static_cast<int64_t>(d.bits) * d.lanes + 7) / 8; }

// "i64", "f32", "bf16" ...
inline std::string dtype_name(slw_dtype d) {
  const char* prefix = d.code == SLW_CODE_INT      ? "i"
                       : d.code == SLW_CODE_UINT   ? "u"
                       : d.code == SLW_CODE_FLOAT  ? "f"
                       : d.code == SLW_CODE_BFLOAT ? "bf"
                                                   : "unknown";
  return d.lanes == 1 ? cat(prefix, +d.bits) : cat(prefix, +d.bits, "x", d.lanes);
}

// The bits of a bfloat16 number; rounds to nearest even, keeps NaN.
struct Bfloat16 {
  uint16_t bits;
  static Bfloat16 from(float value) {
    uint32_t u;
    std::memcpy(&u, &value, sizeof u);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
    return {static_cast<uint16_t>((u + 0x7FFFu + ((u >> 16) & 1u)) >> 16)};
  }
  float to_float() const {
    const uint32_t u = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &u, sizeof value);
    return value;
  }
};

template <class T>
struct DtypeOf;
template <>
struct DtypeOf<int64_t> {
  static constexpr slw_dtype kValue = i64;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr slw_dtype kValue = i32;
};
template <>
struct DtypeOf<uint8_t> {
  static constexpr slw_dtype kValue = u8;
};
template <>
struct DtypeOf<double> {
  static constexpr slw_dtype kValue = f64;
};
template <>
struct DtypeOf<float> {
  static constexpr slw_dtype kValue = f32;
};
template <>
struct DtypeOf<Bfloat16> {
  static constexpr slw_dtype kValue = bf16;
};

inline int64_t numel(const slw_tensor& t) {
  int64_t n = 1;
  for (int32_t d = 0; d < t.ndim; ++d) n *= t.shape[d];
  return n;
}

// Row-major without gaps.
inline bool is_contiguous(const slw_tensor& t) {
  int64_t expected = 1;
  for (int32_t d = t.ndim - 1; d >= 0; --d) {
    if (t.shape[d] != 1 && t.strides[d] != expected) return false;
    expected *= t.shape[d];
  }
  return true;
}

// "f32 [2, 8]"
inline std::string describe(const slw_tensor& t) {
  std::string text = dtype_name(t.dtype) + " [";
  for (int32_t d = 0; d < t.ndim; ++d) text += (d == 0 ? "" : ", ") + std::to_string(t.shape[d]);
  return text + "]";
}

// The first element, untyped.
inline void* raw(const slw_tensor& t) { return static_cast<char*>(t.data) + t.byte_offset; }

// The first element. Throws when the tensor holds another type than T.
template <class T>
T* data(const slw_tensor& t) {
  if (!same_dtype(t.dtype, DtypeOf<T>::kValue)) {
    throw Error(SLW_INVALID_ARGUMENT, cat("a tensor is ", describe(t), ", wanted ", dtype_name(DtypeOf<T>::kValue)));
  }
  return static_cast<T*>(raw(t));
}

// Throws unless `t` is a contiguous tensor of this type and shape in host memory.
inline void check_tensor(const slw_tensor& t, slw_dtype dtype, const std::vector<int64_t>& shape, const char* what) {
  const bool fits = same_dtype(t.dtype, dtype) && t.ndim == static_cast<int32_t>(shape.size()) &&
                    std::equal(shape.begin(), shape.end(), t.shape);
  if (fits && is_contiguous(t) && t.device.type == SLW_DEVICE_CPU) return;
  std::string wanted = dtype_name(dtype) + " [";
  for (std::size_t d = 0; d < shape.size(); ++d) wanted += (d == 0 ? "" : ", ") + std::to_string(shape[d]);
  throw Error(SLW_INVALID_ARGUMENT, cat(what, ": is ", describe(t), ", wanted ", wanted, "], contiguous, on the CPU"));
}

// A contiguous view over memory that somebody else owns, with shape and strides of its own.
class View {
 public:
  View(void* data, slw_dtype dtype, std::vector<int64_t> shape, slw_device device = {SLW_DEVICE_CPU, 0})
      : shape_(std::move(shape)), strides_(shape_.size()) {
    int64_t stride = 1;
    for (std::size_t d = shape_.size(); d-- > 0; stride *= shape_[d]) strides_[d] = stride;
    tensor_ = {data, device, static_cast<int32_t>(shape_.size()), dtype, shape_.data(), strides_.data(), 0};
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  slw_tensor* get() { return &tensor_; }
  slw_tensor& operator*() { return tensor_; }

 private:
  std::vector<int64_t> shape_, strides_;
  slw_tensor tensor_;
};

SLW_SDK_END
