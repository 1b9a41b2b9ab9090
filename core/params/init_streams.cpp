#include "core/params/init_streams.h"

#include <algorithm>
#include <string_view>

#include "core/params/draw.h"
#include "core/params/init.h"

namespace slipway {
namespace {

const char* stream_of(const ParamDeclaration& param) {
  if (param.has(SLW_PARAM_EXPERT)) return kExpertParallelRng;
  for (uint32_t i = 0; i < param.decl().num_cuts; ++i) {
    if (std::string_view(param.decl().cuts[i]->group) == "tp") return kModelParallelRng;
  }
  return kDataParallelRng;
}

bool is_random(const slw_param_decl& decl) { return decl.init == SLW_INIT_NORMAL || decl.init == SLW_INIT_UNIFORM; }

// Zeroes what lies behind the logical shape.
void clear_padding(const Param& param, float* values) {
  const auto& logical = param.declaration->global_shape();
  const int64_t numel = param.local_numel;
  for (const LocalBlock& block : param.local.blocks) {
    const bool has_padding = [&] {
      for (size_t d = 0; d < logical.size(); ++d) {
        if (block.global_offset[d] + block.shape[d] > logical[d]) return true;
      }
      return false;
    }();
    if (!has_padding) continue;
    for (int64_t i = 0; i < numel; ++i) {
      int64_t rest = i;
      bool is_padding = false, is_here = true;
      for (size_t d = logical.size(); d-- > 0;) {
        const int64_t at = rest % param.local.shape[d] - block.local_offset[d];
        rest /= param.local.shape[d];
        is_here = is_here && at >= 0 && at < block.shape[d];
        is_padding = is_padding || block.global_offset[d] + at >= logical[d];
      }
      if (is_here && is_padding) values[i] = 0.0f;
    }
  }
}

}  // namespace

void initialize_from_streams(const Param& param, StreamTracker& streams, float* values) {
  const slw_param_decl& decl = param.decl();
  if (!is_random(decl)) return initialize_local(param, 0, values);
  const auto blocks = static_cast<uint64_t>((param.local_numel + 3) / 4);
  const StreamTracker::Fork fork(streams, stream_of(*param.declaration));
  const StreamTracker::Stream stream = streams.reserve(blocks);
  const auto count = static_cast<int64_t>(blocks);
#pragma omp parallel for schedule(static)
  for (int64_t b = 0; b < count; ++b) {
    const uint64_t counter = stream.offset + static_cast<uint64_t>(b);
    const slw_philox_block block =
        slw_philox(stream.seed, static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0);
    const NormalBlock normals = decl.init == SLW_INIT_NORMAL ? normal_block(block) : NormalBlock{};
    for (int64_t lane = 0; lane < 4 && 4 * b + lane < param.local_numel; ++lane) {
      values[4 * b + lane] = drawn_value(decl, block, normals, static_cast<uint64_t>(lane));
    }
  }
  clear_padding(param, values);
}

}  // namespace slipway
