// Ten optimizer steps against Megatron-core: the five steps of the core with the gpt and adam plugins, weights and
// samples by the value rule, losses normalised as Megatron does.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/train_step.h"
#include "tests/golden/gpt/case.h"
#include "tests/support/golden_values.h"
#include "tests/support/temp_folder.h"

namespace slipway::golden {
namespace {

using Json = nlohmann::json;

// 20 times what another fp32 implementation reaches, relative. AdamW steps amplify it: parameters by 2e-7 a step.
constexpr double kLoss = 20 * 3e-7, kGradNorm = 20 * 1e-5, kParam = 20 * 1e-5, kQkvBias = 2e-2;

const std::set<std::string> kKnownKeys{"case",      "seed",        "software", "config",       "micro_batches_per_step",
                                       "clip_grad", "adam",        "muon",     "param_groups", "scheduler_in_samples",
                                       "steps",     "final_params"};

// Why a case is not run: it needs a model or an optimizer that there is not yet. "" when it is.
std::string not_covered(const Json& c) {
  for (const auto& [key, value] : c.at("config").items()) {
    if (key.find("moe") != std::string::npos && key != "ffn_moe") return "mixture of experts";
  }
  return c.at("muon").empty() ? "" : "Muon";
}

std::vector<std::filesystem::path> covered_cases() {
  std::vector<std::filesystem::path> covered;
  for (const std::filesystem::path& path : files("train/*.json")) {
    const std::string reason = not_covered(read_json(path));
    if (reason.empty()) {
      covered.push_back(path);
    } else {
      std::cout << "golden train/" << path.filename().string() << " is not covered: it needs " << reason << "\n";
    }
  }
  return covered;
}

Json manifest_of(const Json& c, const GptCase& gpt) {
  const Json& schedule = c.at("scheduler_in_samples");
  const int64_t batch = gpt.setup.batch_size, micro_batches = c.at("micro_batches_per_step");
  const auto steps = static_cast<int64_t>(c.at("steps").size());
  const std::string plugins = std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/tests/plugins/";
  Json manifest;
  manifest["plugins"] = {plugins + "libslipway_golden_tokens.so"};
  manifest["model"] = gpt.setup.options;
  manifest["model"]["use"] = "gpt";
  manifest["model"]["make_vocab_size_divisible_by"] = 1;
  manifest["data_parallel"] = {{"use", "ddp"}};
  manifest["data"] = {{"use", "golden_tokens"},
                      {"case_seed", c.at("seed")},
                      {"case_vocab", gpt.setup.vocab_size},
                      {"batch", batch},
                      {"micro_batches", micro_batches}};
  const Json& adam = c.at("adam");
  manifest["optimizer"] = {{"use", "adam"},
                           {"adam_beta1", adam.at("betas").at(0)},
                           {"adam_beta2", adam.at("betas").at(1)},
                           {"adam_eps", adam.at("eps")}};
  manifest["train"] = {{"loss_normalization", "microbatch"},
                       {"micro_batch_size", batch},
                       {"global_batch_size", batch * micro_batches},
                       {"seq_length", gpt.setup.seq_length},
                       {"train_samples", steps * batch * micro_batches},
                       {"lr", schedule.at("max_lr")},
                       {"min_lr", schedule.at("min_lr")},
                       {"lr_warmup_init", schedule.at("init_lr")},
                       {"lr_warmup_samples", schedule.at("lr_warmup_steps")},
                       {"lr_decay_samples", schedule.at("lr_decay_steps")},
                       {"lr_decay_style", schedule.at("lr_decay_style")},
                       {"weight_decay", adam.at("weight_decay")},
                       {"start_weight_decay", schedule.at("start_wd")},
                       {"end_weight_decay", schedule.at("end_wd")},
                       {"weight_decay_incr_style", schedule.at("wd_incr_style")},
                       {"clip_grad", c.at("clip_grad")}};
  return manifest;
}

void set_weights(Training& training, uint64_t seed) {
  for (const Param& param : training.table.params()) {
    const std::vector<float> values = weights({param.name(), seed}, static_cast<size_t>(param.local_numel));
    std::copy(values.begin(), values.end(), training.store->data(param.index));
  }
  training.store->weights_changed();
}

void expect_relative(double got, double want, double tolerance, const std::string& what) {
  EXPECT_NEAR(got, want, tolerance * std::abs(want)) << what;
}

void expect_params(const Training& training, const Json& final_params) {
  ASSERT_EQ(training.table.params().size(), final_params.size());
  for (const Param& param : training.table.params()) {
    const Json& want = final_params.at(param.name());
    const float* values = training.store->data(param.index);
    const double tolerance = param.name().ends_with("linear_qkv.bias") ? kQkvBias : kParam;
    double squares = 0, absmax = 0;
    for (int64_t i = 0; i < param.local_numel; ++i) {
      squares += static_cast<double>(values[i]) * values[i];
      absmax = std::max(absmax, static_cast<double>(std::abs(values[i])));
    }
    expect_relative(std::sqrt(squares), want.at("l2"), tolerance, param.name());
    const auto first = want.at("first8").get<std::vector<double>>();
    for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(values[i], first[i], tolerance * absmax) << param.name();
  }
}

class GoldenTrain : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(GoldenTrain, StepsMatch) {
  const Json c = read_json(GetParam());
  for (const auto& [key, value] : c.items()) ASSERT_TRUE(kKnownKeys.contains(key)) << "unknown key " << key;
  const GptCase gpt = read_gpt_case(GetParam());
  // The core lets weight decay move over the whole run.
  const Json& schedule = c.at("scheduler_in_samples");
  ASSERT_TRUE(schedule.at("wd_incr_style") == "constant" ||
              schedule.at("wd_incr_steps").get<int64_t>() == static_cast<int64_t>(c.at("steps").size()) *
                                                                 gpt.setup.batch_size *
                                                                 c.at("micro_batches_per_step").get<int64_t>());
  const TempFolder folder;
  const std::string manifest = (folder.path() / "manifest.json").string();
  write_file_atomic(manifest, manifest_of(c, gpt).dump(1), ExitCode::kUsage);

  Reporter silent(-1);
  Log log(LogLevel::kWarning);
  LaunchContext context;
  context.log = &log;
  const std::string plugins = std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/lib/slipway/plugins";
  auto runtime = initialize(plan_run({"--manifest", manifest, "--plugin-path", plugins}, {}, silent), context);
  auto training = setup_model_and_optimizer(*runtime);
  set_weights(*training, gpt.seed);
  auto iterators = build_iterators(*runtime, *training);
  for (const Json& want : c.at("steps")) {
    const StepResult step = train_step(*runtime, *training, *iterators);
    const std::string what = "step " + want.at("step").dump();
    EXPECT_DOUBLE_EQ(step.learning_rate, want.at("lr").get<double>()) << what;
    EXPECT_DOUBLE_EQ(step.weight_decay, want.at("wd").get<double>()) << what;
    expect_relative(step.loss, want.at("loss"), kLoss, what + " loss");
    expect_relative(step.grad_norm, want.at("grad_norm_before_clip"), kGradNorm, what + " gradient norm");
  }
  expect_params(*training, c.at("final_params"));
}

INSTANTIATE_TEST_SUITE_P(Case, GoldenTrain, testing::ValuesIn(covered_cases()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace slipway::golden
