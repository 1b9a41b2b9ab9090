#include "core/parallel/schedule/schedule.h"

#include <algorithm>

#include "core/base/error.h"

namespace slipway {
namespace {

using Passes = std::vector<Pass>;

// `warmup` forwards, then forward and backward in turns, then the backwards that are left.
Passes in_turns(const Passes& forwards, const Passes& backwards, size_t warmup) {
  Passes order(forwards.begin(), forwards.begin() + static_cast<std::ptrdiff_t>(warmup));
  for (size_t i = 0; i + warmup < forwards.size(); ++i) {
    order.push_back(forwards[warmup + i]);
    order.push_back(backwards[i]);
  }
  order.insert(order.end(), backwards.end() - static_cast<std::ptrdiff_t>(warmup), backwards.end());
  return order;
}

Passes as_backwards(Passes passes, int32_t vpp) {
  for (Pass& pass : passes) pass = {PassKind::kBackward, vpp - 1 - pass.chunk, pass.microbatch};
  return passes;
}

void check_group(int32_t pp, int32_t m, int32_t group) {
  const auto text = [](int32_t n) { return std::to_string(n); };
  if (group < pp || group > m) {
    throw ConfigError("the interleaved schedule has " + text(m) + " microbatches in groups of " + text(group) + " on " +
                      text(pp) + " pipeline ranks; a group holds at least one per rank and at most all of them" +
                      (m < pp ? "; nearest: " + text(pp) + " microbatches" : ": " + text(pp) + " to " + text(m)));
  }
  const int32_t rest = m % group;
  if (rest == 0 || rest >= pp) return;
  throw ConfigError("the interleaved schedule has " + text(m) + " microbatches in groups of " + text(group) +
                    ", which leaves a group of " + text(rest) + " for " + text(pp) +
                    " pipeline ranks; nearest: " + text(m - rest) + " or " + text(m - rest + pp) +
                    " microbatches (global_batch_size / micro_batch_size / data parallel size)");
}

}  // namespace

Passes interleaved_order(int32_t vpp, int32_t num_microbatches, int32_t group) {
  Passes order;
  for (int32_t begin = 0; begin < num_microbatches; begin += group) {
    for (int32_t chunk = 0; chunk < vpp; ++chunk) {
      for (int32_t m = begin; m < std::min(begin + group, num_microbatches); ++m) {
        order.push_back({PassKind::kForward, chunk, m});
      }
    }
  }
  return order;
}

Schedule one_forward_one_backward(int32_t pp, int32_t num_microbatches) {
  Schedule schedule{pp, 1, num_microbatches, {}};
  const Passes forwards = interleaved_order(1, num_microbatches, num_microbatches);
  for (int32_t rank = 0; rank < pp; ++rank) {
    const int32_t warmup = std::min(pp - rank - 1, num_microbatches);
    schedule.ranks.push_back(in_turns(forwards, as_backwards(forwards, 1), static_cast<size_t>(warmup)));
  }
  return schedule;
}

Schedule interleaved(int32_t pp, int32_t vpp, int32_t num_microbatches, int32_t group) {
  check_group(pp, num_microbatches, group);
  Schedule schedule{pp, vpp, num_microbatches, {}};
  const Passes forwards = interleaved_order(vpp, num_microbatches, group);
  for (int32_t rank = 0; rank < pp; ++rank) {
    const int32_t warmup = (pp - rank - 1) * 2 + (vpp - 1) * group;
    const auto most = std::min(static_cast<size_t>(warmup), forwards.size());
    schedule.ranks.push_back(in_turns(forwards, as_backwards(forwards, vpp), most));
  }
  return schedule;
}

Schedule forward_only(int32_t pp, int32_t vpp, int32_t num_microbatches) {
  Schedule schedule{pp, vpp, num_microbatches, {}};
  const Passes order = interleaved_order(vpp, num_microbatches, std::max<int32_t>(1, std::min(pp, num_microbatches)));
  schedule.ranks.assign(static_cast<size_t>(pp), order);
  return schedule;
}

std::string to_string(const Pass& pass, int32_t vpp) {
  const std::string chunk = vpp > 1 ? "." + std::to_string(pass.chunk) : "";
  return (pass.kind == PassKind::kForward ? "F" : "B") + std::to_string(pass.microbatch) + chunk;
}

}  // namespace slipway
