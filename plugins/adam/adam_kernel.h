// The arithmetic of Adam: one pass over memory that reads the gradient and reads and writes parameter and moments.
// Every operation is rounded as IEEE single precision says and elements do not meet, so an element's result depends on
// nothing but its own inputs: any vector width, any cut and any number of threads give the same bits.
// Pure functions; any thread.
#pragma once

#include <cstdint>

namespace adam {

struct Hyper {
  double beta1;
  double beta2;
  double eps;
  bool decoupled_weight_decay;  // true: AdamW. false: weight_decay * parameter is added to the gradient
};

// What is known about one shard's update before its elements are.
struct Update {
  double lr;
  double weight_decay;
  std::int64_t step;  // 1 at the first update
  double grad_scale;
};

// All that the elements need, in single precision.
struct Coefficients {
  float grad_scale;
  float l2;    // added to the gradient, times the parameter
  float keep;  // 1 - lr * weight_decay: the parameter times this, before the update
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float step_size;              // lr / (1 - beta1^step)
  float sqrt_bias_correction2;  // sqrt(1 - beta2^step)
  float eps;
};

// Computed in double precision, as torch.optim does. REQUIRES: update.step >= 1.
Coefficients coefficients(const Hyper& hyper, const Update& update);

// `n` elements of each; no two overlap. No alignment is needed.
struct Arrays {
  float* param;
  const float* grad;
  float* exp_avg;
  float* exp_avg_sq;
  std::int64_t n;
};

void apply(const Coefficients& c, const Arrays& a);

}  // namespace adam
