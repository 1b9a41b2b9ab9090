// Losses on a split that is not trained on: forward only, without dropout.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/pretrain/iterators.h"
#include "core/pretrain/runtime.h"
#include "core/pretrain/training.h"

namespace slipway {

struct EvalResult {
  int32_t split = SLW_SPLIT_VALID;
  double loss = 0.0;                     // weighted sum of the losses that are trained on
  std::map<std::string, double> losses;  // each by its name, its sum over everything read divided by its count
};

// "validation" or "test".
std::string split_name(int32_t split);

// Evaluates train.eval_iters global batches of the split after `consumed` samples. nullopt: a stop was asked for
// meanwhile, on whichever rank. [collective: world]
std::optional<EvalResult> evaluate(Runtime& runtime, Training& training, Iterators& iterators, int32_t split,
                                   int64_t consumed);

// The evaluation of a step: reports it and moves on in the validation split. When a stop cuts it short it stays due.
// [collective: world]
void evaluate_validation(Runtime& runtime, Training& training, Iterators& iterators);

// Those after training, on the splits that there are. False: a stop was asked for meanwhile. [collective: world]
bool evaluate_finally(Runtime& runtime, Training& training, Iterators& iterators);

}  // namespace slipway
