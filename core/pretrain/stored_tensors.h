// The run's lasting numbers as a checkpoint knows them: a global name, a logical shape (without vocabulary padding) and
// the part that this rank holds.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/pretrain/training.h"

namespace slipway {

// A part of a tensor in this rank's memory. Packed when its padded and logical elements lie alike; else `values` is the
// whole padded tensor, to be packed row by row.
struct StoredTensor {
  std::string name;  // "decoder.final_layernorm.weight", "optimizer.exp_avg.decoder.final_layernorm.weight"
  Shape shape;       // logical
  Shape padded_shape;
  Cut cut;  // of the logical tensor
  std::span<float> values;
  bool is_packed = true;
  bool is_replicated = true;  // every data-parallel rank holds it
};

// In declare order: the same list on every rank, up to the parts.
std::vector<StoredTensor> stored_parameters(const Training& training);
// Parameters, then optimizer state, in declare order: the same list on every rank, up to the parts.
std::vector<StoredTensor> stored_tensors(const Training& training);

// Logical elements only. REQUIRES: not is_packed.
std::vector<float> pack(const StoredTensor& tensor);
void unpack(const std::vector<float>& packed, const StoredTensor& tensor);

}  // namespace slipway
