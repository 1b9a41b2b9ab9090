// The matrix product of this layer: y += a b, or y = a b, in place and for any strides. Where LibTorch has oneDNN,
// large fp32 products on the CPU go there: on processors that MKL does not know well it is up to twice as fast. Which
// of the two computes a product depends on its shape alone, so equal runs stay equal. Pure functions; any thread.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include <slipway/sdk/error.hpp>

// Part of LibTorch's binary but of none of its shipped headers, hence weak: a build without it still links.
namespace at::native {
TORCH_API __attribute__((weak)) void mkldnn_matmul(const Tensor& mat1, const Tensor& mat2, const Tensor& result,
                                                   float beta, float alpha);
}  // namespace at::native

SLW_SDK_BEGIN

// Below that many multiply-adds setting up oneDNN costs more than it wins.
inline constexpr int64_t kSmallProduct = int64_t{1} << 20;

inline bool suits_onednn(const at::Tensor& y, const at::Tensor& a) {
  return a.scalar_type() == at::kFloat && a.device().is_cpu() && y.numel() * a.size(1) >= kSmallProduct &&
         at::native::mkldnn_matmul != nullptr && at::hasMKLDNN() && at::globalContext().userEnabledMkldnn();
}

enum class Into { kReplace, kAdd };

// y [m, n] = a [m, k] b [k, n], or y += a b. All of one type. With kReplace y may be uninitialized.
inline void multiply(const at::Tensor& a, const at::Tensor& b, const at::Tensor& y, Into into) {
  const int beta = into == Into::kAdd ? 1 : 0;
  if (suits_onednn(y, a)) {
    at::native::mkldnn_matmul(a, b, y, static_cast<float>(beta), 1.0f);
  } else {
    y.addmm_(a, b, beta);
  }
}

SLW_SDK_END
