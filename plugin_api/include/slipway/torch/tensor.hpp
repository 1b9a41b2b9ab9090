// Views of the border's tensors as at::Tensor, and of dtypes and devices. Nothing is copied. Pure functions; any
// thread.
#pragma once

#include <ATen/ATen.h>

#include <slipway/sdk/tensor.hpp>

SLW_SDK_BEGIN

// Throws SLW_UNSUPPORTED for a type that LibTorch lacks.
inline at::ScalarType scalar_type(slw_dtype d) {
  if (same_dtype(d, f32)) return at::kFloat;
  if (same_dtype(d, i64)) return at::kLong;
  if (same_dtype(d, bf16)) return at::kBFloat16;
  if (same_dtype(d, f64)) return at::kDouble;
  if (same_dtype(d, f16)) return at::kHalf;
  if (same_dtype(d, i32)) return at::kInt;
  if (same_dtype(d, u8)) return at::kByte;
  throw Error(SLW_UNSUPPORTED, cat("tensors of type ", dtype_name(d), " have no LibTorch counterpart here"));
}

// Throws SLW_UNSUPPORTED for a type that the border lacks.
inline slw_dtype border_dtype(at::ScalarType type) {
  for (const slw_dtype d : {f32, i64, bf16, f64, f16, i32, u8}) {
    if (scalar_type(d) == type) return d;
  }
  throw Error(SLW_UNSUPPORTED, cat("tensors of LibTorch's type ", at::toString(type), " cannot cross the border"));
}

inline at::Device torch_device(slw_device d) {
  if (d.type == SLW_DEVICE_CPU) return at::Device(at::kCPU);
  if (d.type == SLW_DEVICE_CUDA) return at::Device(at::kCUDA, static_cast<at::DeviceIndex>(d.id));
  throw Error(SLW_UNSUPPORTED, cat("device type ", d.type, " is neither the CPU (1) nor CUDA (2)"));
}

// The same memory. REQUIRES: it outlives the result and all of its views.
inline at::Tensor as_tensor(const slw_tensor& t) {
  const at::IntArrayRef shape(t.shape, static_cast<std::size_t>(t.ndim));
  const at::IntArrayRef strides(t.strides, static_cast<std::size_t>(t.ndim));
  const auto options = at::TensorOptions().dtype(scalar_type(t.dtype)).device(torch_device(t.device));
  return at::from_blob(raw(t), shape, strides, options);
}

// Copies into the border's tensor, converting the type. Throws when the shapes differ: `what` names it.
inline void copy_into(const slw_tensor& to, const at::Tensor& from, const char* what) {
  at::Tensor target = as_tensor(to);
  if (target.sizes() != from.sizes()) {
    throw Error(SLW_INVALID_ARGUMENT,
                cat(what, ": the model made shape ", from.sizes(), ", the host wants ", describe(to)));
  }
  target.copy_(from);
}

SLW_SDK_END
