// What the core needs to describe its own memory as slw_tensor. Pure; any thread.
#pragma once

#include <slipway/base.h>

#include <cstddef>
#include <vector>

namespace slipway {

inline constexpr slw_dtype kFloat32{SLW_CODE_FLOAT, 32, 1};
inline constexpr slw_dtype kFloat64{SLW_CODE_FLOAT, 64, 1};
inline constexpr slw_device kCpu{SLW_DEVICE_CPU, 0};

// Row-major strides in elements.
inline std::vector<int64_t> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

}  // namespace slipway
