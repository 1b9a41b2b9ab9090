#include "plugins/ddp/scale.h"

namespace ddp {

void check_scalable(const slw_tensor& tensor) {
  const bool fits = slw::same_dtype(tensor.dtype, slw::f32) || slw::same_dtype(tensor.dtype, slw::bf16);
  if (fits && tensor.device.type == SLW_DEVICE_CPU) return;
  throw slw::Error(SLW_UNSUPPORTED, slw::cat("average_in_collective wants f32 or bf16 gradients in host memory, these "
                                             "are ",
                                             slw::describe(tensor), "; set it to false"));
}

void scale(const slw_tensor& tensor, float factor) {
  const std::int64_t n = slw::numel(tensor);
  if (slw::same_dtype(tensor.dtype, slw::f32)) {
    float* values = slw::data<float>(tensor);
    for (std::int64_t i = 0; i < n; ++i) values[i] *= factor;
    return;
  }
  auto* values = slw::data<slw::Bfloat16>(tensor);
  for (std::int64_t i = 0; i < n; ++i) values[i] = slw::Bfloat16::from(values[i].to_float() * factor);
}

}  // namespace ddp
