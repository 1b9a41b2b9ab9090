#include "core/params/init.h"

#include <slipway/philox.h>

#include "core/base/error.h"
#include "core/params/draw.h"
#include "core/params/tensor_view.h"

namespace slipway {
namespace {

// Draws elements [begin, begin + n) of the flattened logical tensor.
void draw_run(const slw_param_decl& decl, uint64_t key, uint64_t begin, int64_t n, float* out) {
  for (int64_t done = 0; done < n;) {
    const uint64_t element = begin + static_cast<uint64_t>(done);
    const uint64_t counter = element / 4;
    const slw_philox_block block =
        slw_philox(key, static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0);
    const NormalBlock normals = decl.init == SLW_INIT_NORMAL ? normal_block(block) : NormalBlock{};
    for (uint64_t lane = element % 4; lane < 4 && done < n; ++lane, ++done) {
      out[done] = drawn_value(decl, block, normals, lane);
    }
  }
}

void fill_run(const slw_param_decl& decl, uint64_t key, uint64_t begin, int64_t n, float* out) {
  switch (decl.init) {
    case SLW_INIT_ZEROS:
      std::fill(out, out + n, 0.0f);
      return;
    case SLW_INIT_ONES:
      std::fill(out, out + n, 1.0f);
      return;
    case SLW_INIT_CONSTANT:
      std::fill(out, out + n, static_cast<float>(decl.init_a));
      return;
    default:
      draw_run(decl, key, begin, n, out);
  }
}

}  // namespace

uint64_t init_key(const ParamDeclaration& param, uint64_t seed) {
  return slw_philox_key(seed, "init", param.name().c_str());
}

void initialize_slice(const ParamDeclaration& param, uint64_t seed, const ParamSlice& slice) {
  const slw_param_decl& decl = param.decl();
  SLW_CHECK(decl.init != SLW_INIT_CUSTOM);
  const uint64_t key = init_key(param, seed);
  const auto& logical = param.global_shape();
  const size_t dims = logical.size();
  const int64_t row = dims == 0 ? 1 : slice.shape[dims - 1];
  const int64_t rows = element_count(slice.shape) / std::max<int64_t>(row, 1);
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    uint64_t begin = 0;
    bool inside = true;
    int64_t rest = r, stride = 1, last = 0;
    float* out = slice.values;
    for (size_t d = dims; d-- > 0;) {
      const int64_t extent = d + 1 == dims ? 1 : slice.shape[d], at = rest % extent;
      const int64_t position = slice.offset[d] + at;
      rest /= extent;
      out += at * slice.strides[d];
      begin += static_cast<uint64_t>(position) * static_cast<uint64_t>(stride);
      stride *= logical[d];
      inside = inside && position < logical[d];
      if (d + 1 == dims) last = position;
    }
    const int64_t drawn = !inside ? 0 : dims == 0 ? 1 : std::min(row, logical[dims - 1] - last);
    if (drawn > 0) fill_run(decl, key, begin, drawn, out);
    std::fill(out + drawn, out + row, 0.0f);
  }
}

void initialize_local(const Param& param, uint64_t seed, float* values) {
  const std::vector<int64_t> strides = contiguous_strides(param.local.shape);
  for (const LocalBlock& block : param.local.blocks) {
    int64_t first = 0;
    for (size_t d = 0; d < strides.size(); ++d) first += block.local_offset[d] * strides[d];
    initialize_slice(*param.declaration, seed, {block.global_offset, block.shape, strides, values + first});
  }
}

}  // namespace slipway
