// All generated schedules of up to 5 pipeline ranks, 3 chunks and 12 microbatches.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "core/parallel/schedule/schedule.h"

namespace slipway {

inline void for_every_interleaved(int32_t pp, int32_t m, const std::function<void(const Schedule&)>& body) {
  for (int32_t vpp = 2; vpp <= 3; ++vpp) {
    for (int32_t group = pp; group <= m; ++group) {
      if (m % group != 0 && m % group < pp) continue;
      SCOPED_TRACE("chunks " + std::to_string(vpp) + ", groups of " + std::to_string(group));
      body(interleaved(pp, vpp, m, group));
    }
    body(forward_only(pp, vpp, m));
  }
}

inline void for_every_schedule(const std::function<void(const Schedule&)>& body) {
  for (int32_t pp = 1; pp <= 5; ++pp) {
    for (int32_t m = 1; m <= 12; ++m) {
      SCOPED_TRACE("pipeline ranks " + std::to_string(pp) + ", microbatches " + std::to_string(m));
      body(one_forward_one_backward(pp, m));
      body(forward_only(pp, 1, m));
      if (pp > 1) for_every_interleaved(pp, m, body);
    }
  }
}

}  // namespace slipway
