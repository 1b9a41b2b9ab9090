#include "core/parallel/finalize_gradients.h"

#include <algorithm>
#include <string_view>

#include "core/comm/communicator.h"

namespace slipway {
namespace {

bool is_partial_over_tp(const Param& param) {
  const char* group = param.decl().grad_sum_group;
  return group != nullptr && std::string_view(group) == "tp";
}

std::span<float> gradient_of(const ParamStore& store, const OwnedRange& range) {
  return {store.grad(range.param) + range.begin, static_cast<size_t>(range.end - range.begin)};
}

// All partial gradients as one tensor, there and back.
void sum_over_tp(const std::vector<std::span<float>>& gradients, Group& tp) {
  std::vector<float> flat;
  for (const std::span<float> gradient : gradients) flat.insert(flat.end(), gradient.begin(), gradient.end());
  all_reduce(tp, std::span<float>(flat));
  auto from = flat.begin();
  for (const std::span<float> gradient : gradients) {
    std::copy_n(from, gradient.size(), gradient.begin());
    from += static_cast<std::ptrdiff_t>(gradient.size());
  }
}

}  // namespace

void finalize_gradients(const ParamTable& table, const ParamStore& store, const std::vector<OwnedRange>& owned,
                        const std::vector<int32_t>& shared, const GradientGroups& groups) {
  std::vector<std::span<float>> partial, tied;
  for (const OwnedRange& range : owned) {
    if (is_partial_over_tp(table.params()[static_cast<size_t>(range.param)])) {
      partial.push_back(gradient_of(store, range));
    }
    const bool is_shared = std::find(shared.begin(), shared.end(), range.param) != shared.end();
    if (is_shared) tied.push_back(gradient_of(store, range));
  }
  if (groups.tp != nullptr && groups.tp->size() > 1 && !partial.empty()) sum_over_tp(partial, *groups.tp);
  if (groups.embedding == nullptr || groups.embedding->size() == 1) return;
  for (const std::span<float> gradient : tied) all_reduce(*groups.embedding, gradient);
}

std::vector<OwnedRange> counted_ranges(const ParamTable& table, const std::vector<OwnedRange>& owned, int tp_rank,
                                       int dp_rank) {
  std::vector<OwnedRange> counted;
  for (const OwnedRange& range : owned) {
    const Param& param = table.params()[static_cast<size_t>(range.param)];
    const bool counts_here = (param.is_cut || tp_rank == 0) && (range.is_sharded || dp_rank == 0);
    if (!param.is_shared_copy && counts_here) counted.push_back(range);
  }
  return counted;
}

std::vector<std::span<const float>> gradient_spans(const ParamStore& store, const std::vector<OwnedRange>& ranges) {
  std::vector<std::span<const float>> spans;
  for (const OwnedRange& range : ranges) spans.emplace_back(gradient_of(store, range));
  return spans;
}

}  // namespace slipway
