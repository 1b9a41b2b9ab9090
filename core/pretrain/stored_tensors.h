// The run's lasting numbers as a checkpoint knows them: a global name, a logical shape (without vocabulary padding) and
// the parts that this rank holds.
#pragma once

#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/pretrain/training.h"

namespace slipway {

// A part of a tensor in this rank's memory.
struct StoredTensor {
  std::string name;  // "decoder.final_layernorm.weight", "optimizer.exp_avg.decoder.final_layernorm.weight"
  Shape shape;       // logical
  Cut cut;           // of the logical tensor: what this part is
  // Packed: the cut's elements, one after the other. Else the cut is a slice whose rows lie `strides` apart from
  // values[0] on.
  std::span<float> values;
  bool is_packed = true;
  Shape strides;
  // Who else has the same bytes: all data-parallel ranks, all tensor-parallel ranks, an earlier pipeline stage.
  bool is_dp_replicated = true, is_tp_replicated = true, is_copy = false;
};

// In declare order: the same list on every rank of a pipeline stage, up to the parts.
std::vector<StoredTensor> stored_parameters(const Training& training);
// Parameters, then optimizer state.
std::vector<StoredTensor> stored_tensors(const Training& training);

// What the ranks together hold: every tensor of the whole model once, whole; with its optimizer state, or without.
std::vector<TensorInfo> whole_parameters(const Training& training);
std::vector<TensorInfo> whole_tensors(const Training& training);

// REQUIRES: not is_packed.
std::vector<float> pack(const StoredTensor& tensor);
void unpack(const std::vector<float>& packed, const StoredTensor& tensor);

}  // namespace slipway
