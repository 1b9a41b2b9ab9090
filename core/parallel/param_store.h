// The memory of a rank's parameters and gradients: one 64-byte aligned buffer each per buffer of the data-parallel
// plan, and one for what is not trained. Owned by the core for the whole run; plugins get views.
#pragma once

#include <slipway/dp.h>

#include <deque>
#include <vector>

#include "core/base/aligned_buffer.h"
#include "core/params/table.h"
#include "core/params/tensor_view.h"
#include "core/plugin_host/host_dp.h"

namespace slipway {

class ParamStore {
 public:
  // `table` has to outlive the store.
  ParamStore(const ParamTable& table, const DpPlan& plan);

  float* data(int32_t param) const { return data_[static_cast<size_t>(param)]; }
  // nullptr for what is not trained.
  float* grad(int32_t param) const { return grad_[static_cast<size_t>(param)]; }

  // Gradients and gaps of all buffers.
  void zero_grads();
  // By id, for slw_dp attach.
  std::vector<const slw_buffer*> dp_buffers() const;
  // By the plugin's index within `chunk`, for bind.
  std::vector<const slw_param_view*> views(int32_t chunk);

  // Changes whenever the core wrote parameters.
  uint64_t weights_version() const { return weights_version_; }
  void weights_changed() { ++weights_version_; }

  int64_t param_bytes() const;
  int64_t grad_bytes() const;

 private:
  struct Buffer {
    AlignedBuffer param, grad;
    int64_t numel;
    slw_buffer view;
  };
  struct View {
    std::vector<int64_t> shape, strides;
    slw_param_view view;
  };
  void add_buffer(int64_t numel, bool with_grad);

  const ParamTable& table_;
  std::deque<Buffer> buffers_;  // addresses of members are handed out
  size_t num_planned_ = 0;
  std::vector<float*> data_, grad_;
  std::deque<View> views_;
  int64_t stride_one_ = 1;
  uint64_t weights_version_ = 1;
};

}  // namespace slipway
