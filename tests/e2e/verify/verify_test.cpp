// `slipway verify-parallelism` as a user runs it, on the small manifest (with dropout and a padded vocabulary).
#include "tests/e2e/train/train_command.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Verify : public TrainCommand {
 protected:
  static ProgramResult verify(const std::string& layouts, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{built_program("slipway"), "verify-parallelism", "--manifest",
                                     manifest("tiny.json"),    "--layouts",          layouts};
    command.insert(command.end(), more.begin(), more.end());
    ProgramOptions options;
    options.limit = std::chrono::seconds(280);
    return run_program(command, options);
  }
};

TEST_F(Verify, TheNumbersDoNotDependOnTheLayout) {
  const ProgramResult result = verify("tp2,pp2,dp2,tp2pp2,pp2vpp2,dp2distopt,tp2sp,tp2pp2dp2", {"--steps", "10"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("tp2pp2dp2"), HasSubstr("reference"), Not(HasSubstr("DIFFERS"))));
}

TEST_F(Verify, TellsAProgramToo) {
  const ProgramResult result =
      verify("mbs2,dp2mbs2", {"--steps", "3", "--json", "--output-dir", run("kept").string(), "--seed", "7"});
  ASSERT_EQ(result.exit_code, 0) << result.out;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  ASSERT_EQ(json["layouts"].size(), 2u);
  EXPECT_EQ(json["layouts"][1]["layout"], "dp2mbs2");
  EXPECT_TRUE(json["layouts"][1]["passed"].get<bool>());
  EXPECT_TRUE(json["layouts"][1]["initial_weights_equal"].get<bool>());
  EXPECT_TRUE(fs::exists(run("kept") / "1_rank" / "metrics.jsonl"));
}

// The demo's manifest evaluates, and warms up for longer than is trained here.
TEST_F(Verify, KeepsTheScheduleOfAWholeTraining) {
  const ProgramResult result =
      run_program({built_program("slipway"), "verify-parallelism", "--manifest", manifest("devils_dictionary.json"),
                   "--data.paths", text_file(40000), "--num-layers", "2", "--hidden-size", "48", "--seq-length", "64",
                   "--layouts", "dp2", "--steps", "3"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, Not(HasSubstr("iteration")));
}

TEST_F(Verify, ALayoutThatIsRefusedIsNotProven) {
  const ProgramResult result = verify("dp2,tp8", {"--steps", "3"});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("refused"), HasSubstr("num_query_groups")));
}

// Megatron's streams depend on the layout, and so do the numbers.
TEST_F(Verify, FindsADifference) {
  const ProgramResult result = verify("dp2,tp2", {"--steps", "3", "--rng", "megatron", "--hidden-dropout", "0"});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("ok"), HasSubstr("DIFFERS"), HasSubstr("initial weights of"),
                                HasSubstr("the loss of step"), HasSubstr("the worst of 3 steps, the first is 1")));
}

TEST_F(Verify, RefusesAWrongCommandLine) {
  EXPECT_EQ(verify("tp2banana").exit_code, 2);
  EXPECT_EQ(verify("tp2", {"--steps", "0"}).exit_code, 2);
  EXPECT_EQ(verify("tp2", {"--nproc-per-node", "2"}).exit_code, 2);
  const ProgramResult none = run_program({built_program("slipway"), "verify-parallelism", "--layouts", "tp2"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.out, HasSubstr("--manifest"));
  const ProgramResult longer = verify("mbs2", {"--steps", "21"});
  EXPECT_EQ(longer.exit_code, 2);
  EXPECT_THAT(longer.out, HasSubstr("the manifest trains 20 steps and --steps asks for 21"));
}

}  // namespace
}  // namespace slipway
