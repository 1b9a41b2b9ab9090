#include "core/pretrain/check_layout.h"

#include "core/params/tensor_view.h"

namespace slipway {
namespace {

int64_t vocab_size(const Config& config, int64_t of_data) {
  const int64_t asked = config.model.vocab_size;
  if (asked == 0) return of_data;
  if (asked < of_data) {
    throw ConfigError("model.vocab_size is " + std::to_string(asked) + " but the data has ids up to " +
                      std::to_string(of_data - 1) + "; set it to " + std::to_string(of_data) +
                      " or more, or leave it out to take the data's");
  }
  return asked;
}

struct Need {
  const char* option;
  int64_t size;
  uint32_t capability;
  bool offered;  // by this version
};

void check_need(const Need& need, const std::string& model_name, uint32_t capabilities) {
  if (need.size == 1) return;
  const std::string what = "parallel." + std::string(need.option) + " is " + std::to_string(need.size);
  const std::string move = "; set it to 1: the other ranks then become data parallel";
  if ((capabilities & need.capability) == 0) {
    throw ConfigError(what + " but model " + model_name + " does not support it" + move);
  }
  if (!need.offered) throw ConfigError(what + ", which this version does not offer" + move);
}

void check_sequence_parallel(const Config& config, const std::string& model_name, const ModelDescription& model) {
  const ParallelConfig& parallel = config.parallel;
  if (!parallel.sequence_parallel) return;
  const int64_t tp = parallel.tensor_model_parallel_size, length = config.train.seq_length;
  if (tp == 1) {
    throw ConfigError(
        "parallel.sequence_parallel shares the tokens among tensor parallel ranks, and "
        "parallel.tensor_model_parallel_size is 1; make it 2 or more, or switch sequence_parallel off");
  }
  if ((model.capabilities & SLW_MODEL_SP) == 0) {
    throw ConfigError("parallel.sequence_parallel is on but model " + model_name +
                      " does not support it; switch it off");
  }
  if (length % tp != 0) {
    throw ConfigError(
        "train.seq_length " + std::to_string(length) + " is no multiple of parallel.tensor_model_parallel_size " +
        std::to_string(tp) + ", which sequence_parallel needs; nearest: " +
        (length > tp ? std::to_string(length / tp * tp) + " or " : "") + std::to_string((length / tp + 1) * tp));
  }
}

}  // namespace

slw_run_info make_run_info(const RunPlan& plan, const Mesh& mesh, int64_t vocab_size_of_data) {
  const Config& config = plan.config;
  slw_run_info run{};
  run.struct_size = SLW_SIZE_TO(slw_run_info, run_json);
  run.flags = config.parallel.sequence_parallel ? uint32_t{SLW_RUN_SEQUENCE_PARALLEL} : 0u;
  run.tp_size = mesh.sizes().tp, run.pp_size = mesh.sizes().pp, run.cp_size = mesh.sizes().cp;
  run.ep_size = mesh.sizes().ep, run.etp_size = mesh.sizes().etp;
  run.dp_size = mesh.dp(), run.edp_size = mesh.edp();
  run.vpp_size = static_cast<int32_t>(config.parallel.pipeline.virtual_pipeline_model_parallel_size.value_or(1));
  run.seq_length = config.train.seq_length;
  run.micro_batch_size = config.train.micro_batch_size;
  run.vocab_size = vocab_size(config, vocab_size_of_data);
  const int64_t multiple = config.model.make_vocab_size_divisible_by * mesh.sizes().tp;
  run.padded_vocab_size = (run.vocab_size + multiple - 1) / multiple * multiple;
  run.param_dtype = run.grad_dtype = kFloat32;
  run.device = kCpu;
  run.seed = static_cast<uint64_t>(config.train.seed);
  run.run_json = plan.resolved_json.c_str();
  return run;
}

void check_layout(const Config& config, const std::string& model_name, const ModelDescription& model) {
  const ParallelConfig& p = config.parallel;
  const Need needs[] = {{"tensor_model_parallel_size", p.tensor_model_parallel_size, SLW_MODEL_TP, true},
                        {"pipeline_model_parallel_size", p.pipeline_model_parallel_size, SLW_MODEL_PP, true},
                        {"context_parallel_size", p.context_parallel_size, SLW_MODEL_CP_ZIGZAG, false},
                        {"expert_model_parallel_size", p.expert_model_parallel_size, SLW_MODEL_EP, false},
                        {"expert_tensor_parallel_size", p.expert_tensor_parallel_size, SLW_MODEL_ETP, false}};
  for (const Need& need : needs) check_need(need, model_name, model.capabilities);
  check_sequence_parallel(config, model_name, model);
  const int64_t seq_length = config.train.seq_length;
  if (model.max_seq_length != 0 && seq_length > model.max_seq_length) {
    throw ConfigError("train.seq_length is " + std::to_string(seq_length) + " but model " + model_name +
                      " takes at most " + std::to_string(model.max_seq_length));
  }
  if (model.losses.empty()) throw PluginError("model " + model_name + " declares no loss");
}

}  // namespace slipway
