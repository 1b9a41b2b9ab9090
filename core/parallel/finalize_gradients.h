// What is left to do to gradients once the data-parallel backend has reduced them: sums over ranks that saw other
// tokens with the same parameter, and over the copies of tied embeddings. And which gradients count in the global norm.
// The one place that knows how often a parameter exists (reference: Megatron-core's finalize_model_grads).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/comm/group.h"
#include "core/parallel/param_store.h"
#include "core/parallel/placement.h"

namespace slipway {

// The ranks among which gradients are completed.
struct GradientGroups {
  Group* tp = nullptr;
  Group* embedding = nullptr;  // first and last pipeline stage; nullptr: this rank is neither
};

// The gradients of `owned` become those of the whole batch: parameters with grad_sum_group "tp" are summed over tp in
// one collective, then those in `shared` (declared on first and last stage) over the embedding group. The two orders
// are the same on every rank. [collective: tp, embedding]
void finalize_gradients(const ParamTable& table, const ParamStore& store, const std::vector<OwnedRange>& owned,
                        const std::vector<int32_t>& shared, const GradientGroups& groups);

// The ranges of `owned` that count in the global norm, so that each element of the model counts once: what is the same
// on all tp ranks on the first of them, what is the same on all dp ranks on the first of those, a tied copy on its
// first stage.
std::vector<OwnedRange> counted_ranges(const ParamTable& table, const std::vector<OwnedRange>& owned, int tp_rank,
                                       int dp_rank);

std::vector<std::span<const float>> gradient_spans(const ParamStore& store, const std::vector<OwnedRange>& ranges);

}  // namespace slipway
