// rng=megatron: its streams over runs, recomputation, resumes and layouts. Dropout is on.
#include "tests/e2e/train/train_command.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Options = std::vector<std::string>;

class MegatronRng : public TrainCommand {
 protected:
  // Two pipeline stages with tied embeddings and attention dropout, six steps.
  Options options(const Options& more = {}) const {
    Options all{"--manifest",
                manifest("tiny.json"),
                "--train-iters",
                "6",
                "--cpu-threads",
                "1",
                "--rng",
                "megatron",
                "--nproc-per-node",
                "2",
                "--attention-dropout",
                "0.1",
                "--pipeline-model-parallel-size",
                "2",
                "--share-embeddings-and-output-weights"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(MegatronRng, RepeatsItselfAndARecomputedForwardRepeatsTheFirst) {
  train_well("a", options());
  train_well("b", options());
  train_well("again", options({"--recompute-granularity", "full"}));
  EXPECT_EQ(metrics_of(run("a")), metrics_of(run("b")));
  EXPECT_EQ(metrics_of(run("a")), metrics_of(run("again")));
  EXPECT_EQ(tensors_of(run("a"), 6), tensors_of(run("again"), 6));
}

TEST_F(MegatronRng, AResumeGoesOnWithTheStreams) {
  train_well("straight", options());
  train_well("resumed", options({"--exit-interval", "3"}));
  train_well("resumed", options({"--exit-interval", "3", "--resume"}));
  EXPECT_EQ(metrics_of(run("straight")), metrics_of(run("resumed")));
  EXPECT_EQ(tensors_of(run("straight"), 6), tensors_of(run("resumed"), 6));
}

TEST_F(MegatronRng, AnotherLayoutBeginsItsStreamsAnewAndSaysSo) {
  train_well("run", options({"--exit-interval", "3"}));
  const ProgramResult result =
      train("run", {"--manifest", manifest("tiny.json"), "--train-iters", "6", "--cpu-threads", "1", "--rng",
                    "megatron", "--share-embeddings-and-output-weights", "--attention-dropout", "0.1", "--resume"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("streams of the checkpoint"), HasSubstr("begin anew")));
}

TEST_F(MegatronRng, ModesAreNotMixed) {
  train_well("run", options({"--exit-interval", "3"}));
  Options other = options({"--resume"});
  *(std::find(other.begin(), other.end(), "--rng") + 1) = "invariant";
  const ProgramResult result = train("run", other);
  EXPECT_EQ(result.exit_code, 4) << result.out;
  EXPECT_THAT(result.out, HasSubstr("train.rng"));
  EXPECT_EQ(train("new", {"--manifest", manifest("tiny.json"), "--data-parallel-random-init"}).exit_code, 2);
}

TEST_F(MegatronRng, ReplicasStartAlikeThoughTheirSeedsDiffer) {
  const Options two{"--manifest",
                    manifest("tiny.json"),
                    "--train-iters",
                    "3",
                    "--cpu-threads",
                    "1",
                    "--rng",
                    "megatron",
                    "--nproc-per-node",
                    "2"};
  Options own = two;
  own.emplace_back("--data-parallel-random-init");
  train_well("shared", two);
  train_well("own", own);
  const auto shared = metrics_of(run("shared")), with_own = metrics_of(run("own"));
  // The first rank's weights count in both; dropout masks differ on the second.
  EXPECT_NE(shared.front()["loss"], with_own.front()["loss"]);
  EXPECT_NEAR(shared.front()["loss"].get<double>(), with_own.front()["loss"].get<double>(), 0.1);
}

}  // namespace
}  // namespace slipway
