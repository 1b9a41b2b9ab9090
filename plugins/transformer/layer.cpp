#include "plugins/transformer/layer.h"

#include "plugins/transformer/activation.h"

namespace slipway::transformer {
namespace {

slw::Param matrix(const std::string& name, int64_t out, int64_t in, double std, const std::string& unit) {
  slw::Param param(name + ".weight", {out, in});
  param.matrix().normal(0, std).unit(unit);
  return param;
}

slw::Param vector(const std::string& name, int64_t width, const std::string& unit) {
  slw::Param param(name, {width});
  param.no_weight_decay().zeros().unit(unit);
  return param;
}

// A vector that every rank holds and applies to its own tokens: with shared tokens each has a part of its gradient.
slw::Param token_vector(const TransformerConfig& c, const std::string& name, int64_t width, const std::string& unit) {
  slw::Param param = vector(name, width, unit);
  if (c.sequence_parallel) param.grad_sum("tp");
  return param;
}

// The norm of each head: every rank has the gradient of its heads.
void declare_head_norm(slw::ParamSink& params, const TransformerConfig& c, const std::string& name,
                       const std::string& unit) {
  params.add(vector(name + ".weight", c.head_dim, unit).ones().grad_sum("tp"));
  if (c.norm == NormKind::kLayerNorm) params.add(vector(name + ".bias", c.head_dim, unit).grad_sum("tp"));
}

void add_qkv_blocks(slw::Param& param, const TransformerConfig& c) {
  param.block("q", c.heads_per_group() * c.head_dim).block("k", c.head_dim).block("v", c.head_dim);
  param.repeat(c.query_groups).cut(0, "tp");
}

void declare_attention(slw::ParamSink& params, const TransformerConfig& c, const std::string& prefix) {
  const std::string name = prefix + ".self_attention.";
  slw::Param qkv = matrix(name + "linear_qkv", c.qkv_width(), c.hidden, c.init_std, prefix);
  add_qkv_blocks(qkv, c);
  params.add(qkv);
  if (c.qkv_bias) {
    slw::Param bias = vector(name + "linear_qkv.bias", c.qkv_width(), prefix);
    add_qkv_blocks(bias, c);
    params.add(bias);
  }
  if (c.qk_norm) {
    declare_head_norm(params, c, name + "q_layernorm", prefix);
    declare_head_norm(params, c, name + "k_layernorm", prefix);
  }
  params.add(matrix(name + "linear_proj", c.hidden, c.q_width(), c.output_init_std, prefix).cut(1, "tp"));
  if (c.linear_bias) params.add(token_vector(c, name + "linear_proj.bias", c.hidden, prefix));
}

void declare_mlp(slw::ParamSink& params, const TransformerConfig& c, const std::string& prefix) {
  const std::string name = prefix + ".mlp.";
  const int64_t parts = c.gated ? 2 : 0;
  params.add(matrix(name + "linear_fc1", c.fc1_width(), c.hidden, c.init_std, prefix).cut(0, "tp", parts));
  if (c.linear_bias) params.add(vector(name + "linear_fc1.bias", c.fc1_width(), prefix).cut(0, "tp", parts));
  params.add(matrix(name + "linear_fc2", c.hidden, c.ffn, c.output_init_std, prefix).cut(1, "tp"));
  if (c.linear_bias) params.add(token_vector(c, name + "linear_fc2.bias", c.hidden, prefix));
}

}  // namespace

void declare_norm(slw::ParamSink& params, const TransformerConfig& config, const std::string& name, int64_t width,
                  const std::string& unit) {
  params.add(token_vector(config, name + ".weight", width, unit).ones());
  if (config.norm == NormKind::kLayerNorm) params.add(token_vector(config, name + ".bias", width, unit));
}

void declare_layer(slw::ParamSink& params, const TransformerConfig& config, const std::string& prefix) {
  declare_norm(params, config, prefix + ".input_layernorm", config.hidden, prefix);
  declare_attention(params, config, prefix);
  declare_norm(params, config, prefix + ".pre_mlp_layernorm", config.hidden, prefix);
  declare_mlp(params, config, prefix);
}

NormWeights bound_norm(const slw::TorchParams& params, const TransformerConfig& config, const std::string& name) {
  const bool has_bias = config.norm == NormKind::kLayerNorm;
  return {config.norm, config.norm_epsilon, params.at(name + ".weight"),
          has_bias ? params.at(name + ".bias") : at::Tensor()};
}

TransformerLayer::TransformerLayer(const slw::TorchParams& params, const LayerShare& share, const std::string& prefix)
    : config_(share.config),
      tp_(share.tp),
      prefix_(prefix),
      input_norm_(bound_norm(params, config_, prefix + ".input_layernorm")),
      mlp_norm_(bound_norm(params, config_, prefix + ".pre_mlp_layernorm")),
      qkv_(bound_linear(params, prefix + ".self_attention.linear_qkv")),
      proj_(bound_linear(params, prefix + ".self_attention.linear_proj")),
      fc1_(bound_linear(params, prefix + ".mlp.linear_fc1")),
      fc2_(bound_linear(params, prefix + ".mlp.linear_fc2")) {
  attention_.first_head = tp_.rank * config_.heads;
  if (!config_.qk_norm) return;
  attention_.q_norm = bound_norm(params, config_, prefix + ".self_attention.q_layernorm");
  attention_.k_norm = bound_norm(params, config_, prefix + ".self_attention.k_layernorm");
}

TransformerLayer::Linear TransformerLayer::bound_linear(const slw::TorchParams& params, const std::string& name) {
  return {params.at(name + ".weight"), params.has(name + ".bias") ? params.at(name + ".bias") : at::Tensor()};
}

at::Tensor TransformerLayer::forward(const at::Tensor& x, const slw::TorchPass& pass,
                                     const AttentionContext& context) const {
  const auto in_use = pass.acquire(prefix_);
  return mlp(attend(x, pass, context), pass);
}

at::Tensor TransformerLayer::attend(const at::Tensor& x, const slw::TorchPass& pass,
                                    const AttentionContext& context) const {
  const auto [normal, residual] = norm_and_residual(x, input_norm_);
  const std::string place = prefix_ + ".self_attention";
  const at::Tensor qkv = spread(normal, qkv_).view({pass.args().batch_size, -1, config_.qkv_width()});
  const slw::Dropout weights_dropout =
      pass.dropout_at(place + ".core_attention", config_.attention_dropout, slw::TorchPass::Region::kShared);
  const at::Tensor mixed = attention(qkv, config_, attention_, context, weights_dropout);
  return join(mixed, proj_, residual, pass.dropout_at(place, config_.hidden_dropout, tp_.region()));
}

at::Tensor TransformerLayer::mlp(const at::Tensor& x, const slw::TorchPass& pass) const {
  const auto [normal, residual] = norm_and_residual(x, mlp_norm_);
  const at::Tensor inner = activate(spread(normal, fc1_), config_.activation, config_.gated);
  return join(inner, fc2_, residual, pass.dropout_at(prefix_ + ".mlp", config_.hidden_dropout, tp_.region()));
}

at::Tensor TransformerLayer::spread(const at::Tensor& x, const Linear& linear) const {
  if (!tp_.is_active()) return slw::linear(x, linear.weight, linear.bias);
  return column_linear(x, linear.weight, linear.bias, tp_);
}

at::Tensor TransformerLayer::join(const at::Tensor& x, const Linear& linear, const at::Tensor& residual,
                                  const slw::Dropout& dropout) const {
  const at::Tensor added = dropout.active() ? at::Tensor() : residual;
  const at::Tensor y = tp_.is_active() ? row_linear(x, linear.weight, linear.bias, added, tp_)
                                       : slw::linear(x, linear.weight, linear.bias, added);
  return dropout.active() ? slw::dropout(y, tp_.of_local_tokens(dropout, y.size(0)), residual) : y;
}

}  // namespace slipway::transformer
