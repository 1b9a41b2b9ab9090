// Numbers of a declared distribution from blocks of Philox. Pure functions; any thread.
#pragma once

#include <slipway/model.h>
#include <slipway/philox.h>

#include <cmath>
#include <cstddef>
#include <numbers>

namespace slipway {

// Box-Muller over lane pairs (0, 1) and (2, 3) of one block: four normals.
struct NormalBlock {
  double value[4];
};

inline NormalBlock normal_block(const slw_philox_block& block) {
  NormalBlock out{};
  for (std::size_t pair = 0; pair < 2; ++pair) {
    const double radius = std::sqrt(-2.0 * std::log(slw_uniform(block.lane[2 * pair])));
    const double angle = 2.0 * std::numbers::pi * slw_uniform(block.lane[2 * pair + 1]);
    out.value[2 * pair] = radius * std::cos(angle);
    out.value[2 * pair + 1] = radius * std::sin(angle);
  }
  return out;
}

// Lane `lane` of a block by the rule of `decl`, SLW_INIT_NORMAL or SLW_INIT_UNIFORM. `normals`: of the block, for the
// former.
inline float drawn_value(const slw_param_decl& decl, const slw_philox_block& block, const NormalBlock& normals,
                         uint64_t lane) {
  const double value = decl.init == SLW_INIT_NORMAL
                           ? decl.init_a + decl.init_b * normals.value[lane]
                           : decl.init_a + (decl.init_b - decl.init_a) * slw_uniform(block.lane[lane]);
  return static_cast<float>(value);
}

}  // namespace slipway
