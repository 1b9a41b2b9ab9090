#include "plugins/gpt/model.h"

#include "plugins/gpt/cost.h"
#include "plugins/gpt/names.h"
#include "plugins/gpt/refuse.h"
#include "plugins/gpt/stage.h"
#include "plugins/transformer/layer.h"

namespace slipway::gpt {
namespace {

constexpr uint32_t kTableVersion = 1;

void refuse_unsupported_run(const slw_run_info& run) {
  const auto refuse = [](const std::string& message) { throw slw::Error(SLW_UNSUPPORTED, message); };
  if (!slw::same_dtype(run.param_dtype, slw::f32)) {
    refuse(slw::cat("parameters of type ", slw::dtype_name(run.param_dtype), " are not supported; allowed: f32"));
  }
  if (run.device.type != SLW_DEVICE_CPU) refuse(slw::cat("device type ", run.device.type, " is not the CPU (1)"));
}

}  // namespace

GptModel::GptModel(slw::Host host, const slw::Config& options, const slw_run_info& run)
    : TorchModel(host, run), config_(read_config(options, run)) {
  refuse_unsupported_run(run);
  losses_.add("lm loss", SLW_NORM_FIELD, "loss_mask");
  if (config_.layers.attention_dropout > 0) {
    host.info("attention_dropout is above 0, so attention holds its score matrix and is slower");
  }
}

slw_model_info GptModel::describe() {
  slw_model_info info = slw::make<slw_model_info>();
  info.flags = SLW_MODEL_TP | SLW_MODEL_SP | SLW_MODEL_PP | SLW_MODEL_ACQUIRES | SLW_MODEL_LOGITS | SLW_MODEL_VAR_SEQ |
               SLW_MODEL_INVARIANT_RNG;
  info.num_layers = config_.layers.num_layers;
  info.max_seq_length = config_.has_learned_positions ? config_.max_positions : 0;
  info.table_version = kTableVersion;
  losses_.put_into(info);
  return info;
}

void GptModel::declare(const slw_stage& stage, slw::ParamSink& params) {
  const int64_t hidden = config_.layers.hidden;
  const auto vocabulary = [&](const char* name, double std) {
    slw::Param param(name, {config_.vocab_size, hidden});
    param.padded({config_.padded_vocab_size, hidden}).cut(0, "tp").normal(0, std).unit(name);
    return param;
  };
  const bool is_word_here = stage.pre_process != 0 || (stage.post_process != 0 && config_.is_tied);
  if (is_word_here) {
    slw::Param word = vocabulary(kWordEmbedding, config_.embedding_init_std).embedding();
    if (config_.is_tied) word.output().tie(kWordEmbedding);
    params.add(word);
  }
  if (stage.pre_process != 0 && config_.has_learned_positions) {
    slw::Param position(kPositionEmbedding, {config_.max_positions, hidden});
    position.embedding().normal(0, config_.embedding_init_std).unit(kPositionEmbedding);
    if (config_.layers.sequence_parallel) position.grad_sum("tp");  // each rank adds the rows of its tokens
    params.add(position);
  }
  for (int32_t i = stage.layer_begin; i < stage.layer_end; ++i) {
    transformer::declare_layer(params, config_.layers, layer_name(i));
  }
  if (stage.post_process == 0) return;
  transformer::declare_norm(params, config_.layers, kFinalNorm, hidden, kFinalNorm);
  if (!config_.is_tied) params.add(vocabulary(kOutputLayer, config_.layers.init_std).output());
}

void GptModel::io_spec(const slw_io_args& args, slw::IoSink& io) {
  const int64_t tokens = args.batch_size * args.seq_length, hidden = config_.layers.hidden;
  const int64_t local_tokens = config_.layers.sequence_parallel ? tokens / config_.tp_size : tokens;
  const std::vector<int64_t> activation = config_.tp_size > 1
                                              ? std::vector<int64_t>{local_tokens, hidden}
                                              : std::vector<int64_t>{args.batch_size, args.seq_length, hidden};
  if (args.stage->pre_process != 0) {
    io.required_field("tokens", slw::i64);
    if (config_.has_learned_positions) io.optional_field("position_ids", slw::i64);
  } else {
    io.input(slw::f32, activation);
  }
  if (args.stage->post_process != 0) {
    io.required_field("labels", slw::i64);
    io.required_field("loss_mask", slw::f32);
  } else {
    io.output(slw::f32, activation);
  }
}

slw_cost GptModel::cost(const slw_io_args& args, slw::CostSink& costs) { return cost_of(config_, args, costs); }

std::unique_ptr<slw::TorchStage> GptModel::make_stage(const slw_stage& stage, const slw::TorchParams& params) {
  transformer::TensorParallel tp;
  if (config_.tp_size > 1) {
    tp.group = slw::TorchGroup(host(), "tp");
    tp.size = tp.group.size();
    tp.rank = tp.group.rank();
    tp.shares_tokens = config_.layers.sequence_parallel;
  }
  return std::make_unique<GptStage>(config_, tp, stage, params);
}

}  // namespace slipway::gpt
