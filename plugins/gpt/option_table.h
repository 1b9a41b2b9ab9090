// The option table of the gpt model, one row per option; names are those of Megatron-core's TransformerConfig and
// GPTModel, aliases are Megatron-LM's command-line spellings where they differ.
#pragma once

#include <slipway/sdk.hpp>

namespace slipway::gpt {

inline constexpr const char* kPositionTypes[] = {"learned_absolute", "rope", "none", nullptr};
inline constexpr const char* kNorms[] = {"LayerNorm", "RMSNorm", nullptr};
inline constexpr const char* kActivations[] = {"gelu", "silu", "relu", "squared_relu", "quick_gelu", nullptr};

inline constexpr const char* kRopeAlias[] = {"use-rotary-position-embeddings=rope", nullptr};
inline constexpr const char* kEpsilonAlias[] = {"norm-epsilon", nullptr};
inline constexpr const char* kActivationAliases[] = {"swiglu=silu", "squared-relu=squared_relu",
                                                     "quick-geglu=quick_gelu", nullptr};
inline constexpr const char* kGatedAliases[] = {"swiglu=true", "quick-geglu=true", nullptr};
inline constexpr const char* kFusionAliases[] = {"no-bias-gelu-fusion=false", "no-bias-swiglu-fusion=false", nullptr};
inline constexpr const char* kBiasAlias[] = {"disable-bias-linear=false", nullptr};
inline constexpr const char* kTieAlias[] = {"untie-embeddings-and-output-weights=false", nullptr};
inline constexpr const char* kInterpolationAlias[] = {"rotary-seq-len-interpolation-factor", nullptr};
inline constexpr const char* kScalingAlias[] = {"use-rope-scaling=true", nullptr};

inline constexpr slw::Options kGptOptions{
    slw::int_option("num_layers", nullptr, "Number of transformer layers.").min("1"),
    slw::int_option("hidden_size", nullptr, "Width of the residual stream.").min("1"),
    slw::int_option("num_attention_heads", nullptr, "Number of query heads.").min("1"),
    slw::int_option(
        "ffn_hidden_size", "null",
        "Inner width of the MLP; default 4 x hidden_size, or int(8 x hidden_size / 3 / 64) x 64 when gated.")
        .min("1"),
    slw::int_option("num_query_groups", "null",
                    "Number of key and value heads; divides num_attention_heads, which is the default.")
        .min("1"),
    slw::int_option("kv_channels", "null", "Channels of one head; default hidden_size / num_attention_heads.").min("1"),
    slw::int_option("max_position_embeddings", "0", "Rows of the learned position table; 0: the sequence length.")
        .min("0"),
    slw::string_option("position_embedding_type", R"("learned_absolute")", "How a token's position enters.")
        .choices(kPositionTypes)
        .aliases(kRopeAlias),
    slw::string_option("normalization", R"("LayerNorm")", "Kind of the norms.").choices(kNorms),
    slw::float_option("layernorm_epsilon", "1e-5", "Added to the variance in every norm.")
        .min("0")
        .aliases(kEpsilonAlias),
    slw::string_option("activation_func", R"("gelu")", "Activation of the MLP; gelu is the exact one (erf).")
        .choices(kActivations)
        .aliases(kActivationAliases),
    slw::bool_option("gated_linear_unit", "false", "MLP computes act(gate) * up: SwiGLU with silu, GeGLU with gelu.")
        .aliases(kGatedAliases),
    slw::bool_option("bias_activation_fusion", "false",
                     "As Megatron's fused bias and activation: gelu becomes its tanh approximation.")
        .aliases(kFusionAliases),
    slw::bool_option("add_bias_linear", "true", "All linear layers but the output layer have a bias.")
        .aliases(kBiasAlias),
    slw::bool_option("add_qkv_bias", "false", "The qkv projection has a bias even without add_bias_linear."),
    slw::bool_option("qk_layernorm", "false", "Normalize queries and keys per head, before rotation."),
    slw::bool_option("apply_query_key_layer_scaling", "false",
                     "Scale scores by 1/layer before the softmax and back inside: changes nothing in fp32."),
    slw::bool_option("share_embeddings_and_output_weights", "false", "The output layer uses the word embedding.")
        .aliases(kTieAlias),
    slw::float_option("rotary_base", "10000", "Base of the rotary frequencies.").min("1"),
    slw::float_option("rotary_percent", "1.0", "Fraction of a head's channels that is rotated, the first ones.")
        .min("0")
        .max("1"),
    slw::bool_option("rotary_interleaved", "false", "Rotate pairs (2i, 2i+1) instead of the two halves."),
    slw::float_option("seq_len_interpolation_factor", "null", "Positions are divided by it before rotation.")
        .aliases(kInterpolationAlias),
    slw::bool_option("rope_scaling", "false",
                     "Stretch long wavelengths by Llama 3's rule (low 1, high 4, length 8192).")
        .aliases(kScalingAlias),
    slw::float_option("rope_scaling_factor", "8.0", "Factor of rope_scaling.").min("1"),
    slw::json_option("window_size", "null",
                     "[w, 0]: a token attends to itself and the w tokens before it; null: to all before it."),
    slw::float_option("hidden_dropout", "0.1", "Dropped fraction after the embedding, attention and MLP.")
        .min("0")
        .max("1"),
    slw::float_option("attention_dropout", "0.1",
                      "Dropped fraction of the attention weights; above 0 attention holds its score matrix.")
        .min("0")
        .max("1"),
    slw::float_option("init_method_std", "0.02",
                      "Standard deviation of initial weights; 1/sqrt(2 x num_layers) of it "
                      "for the attention projection and the second MLP layer.")
        .min("0"),
    slw::float_option("embedding_init_method_std", "null",
                      "Standard deviation of initial embeddings; default init_method_std.")
        .min("0"),
};

}  // namespace slipway::gpt
