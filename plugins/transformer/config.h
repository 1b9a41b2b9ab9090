// What a transformer layer is made of; filled and checked by a model plugin, then never changed.
#pragma once

#include <cstdint>
#include <optional>

namespace slipway::transformer {

enum class NormKind { kLayerNorm, kRmsNorm };

// kGeluTanh: the tanh approximation; kQuickGelu: x * sigmoid(1.702 x).
enum class Activation { kGelu, kGeluTanh, kSilu, kRelu, kSquaredRelu, kQuickGelu };

struct RopeConfig {
  int64_t dim = 0;  // channels of a head that are rotated, from its first on; even
  double base = 10000;
  bool interleaved = false;                    // pairs (2i, 2i+1) instead of (i, i + dim/2)
  std::optional<double> interpolation_factor;  // positions are divided by it
  std::optional<double> scaling_factor;        // Llama 3's rule
};

struct TransformerConfig {
  int64_t num_layers = 0;  // of the whole model
  int64_t hidden = 0, heads = 0, query_groups = 0, head_dim = 0, ffn = 0;
  NormKind norm = NormKind::kLayerNorm;
  double norm_epsilon = 1e-5;
  Activation activation = Activation::kGelu;
  bool gated = false;  // act(gate) * up
  bool linear_bias = true, qkv_bias = true, qk_norm = false;
  std::optional<RopeConfig> rope;
  std::optional<int64_t> window;  // a token sees that many tokens before it; unset: all
  double hidden_dropout = 0, attention_dropout = 0;
  bool sequence_parallel = false;  // ranks share the tokens between the layers
  double init_std = 0.02, output_init_std = 0.02;

  int64_t heads_per_group() const { return heads / query_groups; }
  int64_t q_width() const { return heads * head_dim; }
  int64_t kv_width() const { return query_groups * head_dim; }
  int64_t qkv_width() const { return q_width() + 2 * kv_width(); }
  int64_t fc1_width() const { return gated ? 2 * ffn : ffn; }

  // The part of each layer that one of `ranks` tensor parallel ranks computes.
  TransformerConfig shared_by(int64_t ranks) const {
    TransformerConfig part = *this;
    part.heads /= ranks, part.query_groups /= ranks, part.ffn /= ranks;
    return part;
  }
};

}  // namespace slipway::transformer
