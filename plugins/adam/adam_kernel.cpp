#include "plugins/adam/adam_kernel.h"

#include <cmath>

// One body for every processor, compiled for each vector width; the loader picks. This file is compiled with
// -ffp-contract=off (a fused multiply-add would round differently) and -fno-math-errno (so that sqrt is one
// instruction).
#ifdef __FAST_MATH__
#error "adam_kernel.cpp promises bit-equal results: build it without -ffast-math"
#endif
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ADAM_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define ADAM_CLONES
#endif

namespace adam {

Coefficients coefficients(const Hyper& hyper, const Update& update) {
  const double t = static_cast<double>(update.step);
  const double correction1 = 1.0 - std::pow(hyper.beta1, t);
  const double correction2 = 1.0 - std::pow(hyper.beta2, t);
  const bool decoupled = hyper.decoupled_weight_decay;
  Coefficients c{};
  c.grad_scale = static_cast<float>(update.grad_scale);
  c.l2 = static_cast<float>(decoupled ? 0.0 : update.weight_decay);
  c.keep = static_cast<float>(decoupled ? 1.0 - update.lr * update.weight_decay : 1.0);
  c.one_minus_beta1 = static_cast<float>(1.0 - hyper.beta1);
  c.beta2 = static_cast<float>(hyper.beta2);
  c.one_minus_beta2 = static_cast<float>(1.0 - hyper.beta2);
  c.step_size = static_cast<float>(update.lr / correction1);
  c.sqrt_bias_correction2 = static_cast<float>(std::sqrt(correction2));
  c.eps = static_cast<float>(hyper.eps);
  return c;
}

ADAM_CLONES void apply(const Coefficients& c, const Arrays& a) {
  const Coefficients k = c;
  float* __restrict param = a.param;
  const float* __restrict grad = a.grad;
  float* __restrict exp_avg = a.exp_avg;
  float* __restrict exp_avg_sq = a.exp_avg_sq;
#pragma GCC ivdep
  for (std::int64_t i = 0; i < a.n; ++i) {
    const float g = grad[i] * k.grad_scale + k.l2 * param[i];
    const float m = exp_avg[i] + k.one_minus_beta1 * (g - exp_avg[i]);
    const float v = exp_avg_sq[i] * k.beta2 + k.one_minus_beta2 * g * g;
    const float denominator = std::sqrt(v) / k.sqrt_bias_correction2 + k.eps;
    param[i] = param[i] * k.keep - k.step_size * (m / denominator);
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
  }
}

}  // namespace adam
