// Names of the parameters outside of the layers, and of the layers: those of Megatron-core's state dict.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::gpt {

inline constexpr const char* kWordEmbedding = "embedding.word_embeddings.weight";
inline constexpr const char* kPositionEmbedding = "embedding.position_embeddings.weight";
inline constexpr const char* kFinalNorm = "decoder.final_layernorm";
inline constexpr const char* kOutputLayer = "output_layer.weight";

inline std::string layer_name(int64_t index) { return "decoder.layers." + std::to_string(index); }

}  // namespace slipway::gpt
