// Law 1 for the distributed optimizer: whole runs, whose numbers are those of replicated training.
#include <gtest/gtest.h>

#include "tests/support/training_run.h"

namespace slipway {
namespace {

constexpr double kTolerance = 1e-5;

nlohmann::json sharded(nlohmann::json manifest) {
  manifest["data_parallel"] = {{"use", "distributed_optimizer"}, {"ddp_bucket_size", 5000}};
  return manifest;
}

// Adam turns rounding noise of linear_qkv.bias, whose key part has no true gradient, into steps of size lr.
void ignore_keyless_bias(Weights& weights) {
  std::erase_if(weights, [](const auto& item) { return item.first.ends_with("linear_qkv.bias"); });
}

TEST(ShardedTraining, EqualsReplicatedTraining) {
  for (const nlohmann::json& manifest : {small_gpt_manifest(), small_bigram_manifest()}) {
    for (const int world : {1, 2, 4}) {
      TrainingRun a = run_training(manifest, world), b = run_training(sharded(manifest), world);
      EXPECT_EQ(a.initial, b.initial);
      ASSERT_EQ(a.steps.size(), b.steps.size());
      for (size_t s = 0; s < a.steps.size(); ++s) {
        EXPECT_NEAR(a.steps[s].loss, b.steps[s].loss, kTolerance * a.steps[s].loss) << "step " << s + 1;
        EXPECT_NEAR(a.steps[s].grad_norm, b.steps[s].grad_norm, kTolerance * a.steps[s].grad_norm) << "step " << s + 1;
      }
      for (TrainingRun* run : {&a, &b}) ignore_keyless_bias(run->final);
      EXPECT_LE(largest_difference(a.final, b.final), kTolerance);
    }
  }
}

TEST(ShardedTraining, OverlapIsBitEqual) {
  const nlohmann::json manifest = sharded(small_gpt_manifest());
  const TrainingRun plain = run_training(manifest, 2, {"--no-overlap-grad-reduce", "--no-overlap-param-gather"});
  const TrainingRun overlapped = run_training(manifest, 2, {"--overlap-grad-reduce", "--overlap-param-gather"});
  EXPECT_EQ(plain.final, overlapped.final);
}

}  // namespace
}  // namespace slipway
