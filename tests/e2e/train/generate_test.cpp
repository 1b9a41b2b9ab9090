// `slipway generate` on a model that was just trained.
#include "tests/e2e/train/train_command.h"

namespace slipway {
namespace {

using testing::HasSubstr;

// A pangram, learned well enough to go on with it.
class GenerateCommand : public TrainCommand {
 protected:
  void train_on_text(const std::vector<std::string>& more = {}) {
    std::vector<std::string> options{"--manifest",
                                     manifest("devils_dictionary.json"),
                                     "--data.paths",
                                     text_file(20000),
                                     "--num-layers",
                                     "2",
                                     "--hidden-size",
                                     "48",
                                     "--train-iters",
                                     "80",
                                     "--seq-length",
                                     "64",
                                     "--lr",
                                     "0.01",
                                     "--eval-interval",
                                     "0",
                                     "--eval-iters",
                                     "0"};
    options.insert(options.end(), more.begin(), more.end());
    train_well("run", options);
  }

  ProgramResult generate(const std::vector<std::string>& options) const {
    std::vector<std::string> command{built_program("slipway"), "generate", "--checkpoint", run("run").string()};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command);
  }
};

TEST_F(GenerateCommand, GoesOnWithWhatItLearned) {
  train_on_text();
  const ProgramResult greedy = generate({"--prompt", "the quick ", "--temperature", "0", "--max-new-tokens", "10"});
  EXPECT_EQ(greedy.exit_code, 0) << greedy.out;
  EXPECT_EQ(greedy.out, "the quick brown fox \n");
  // The data may be gone by then.
  fs::remove(folder_.path() / "text.txt");
  EXPECT_EQ(generate({"--prompt", "the quick ", "--temperature", "0", "--max-new-tokens", "10"}).out, greedy.out);
}

TEST_F(GenerateCommand, TheSeedDecidesAndSamplesStandAlone) {
  train_on_text();
  const std::vector<std::string> warm{"--prompt", "the", "--max-new-tokens", "30", "--temperature", "1.5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), warm.begin(), warm.end());
    const ProgramResult result = generate(more);
    EXPECT_EQ(result.exit_code, 0) << result.out;
    return result.out;
  };
  const std::string one = with({"--seed", "1"});
  EXPECT_EQ(with({"--seed", "1"}), one);
  EXPECT_NE(with({"--seed", "2"}), one);
  const std::string three = with({"--seed", "1", "--num-samples", "3"});
  EXPECT_THAT(three, HasSubstr("--- sample 1\n" + one));
  EXPECT_THAT(three, HasSubstr("--- sample 3\n"));
  EXPECT_EQ(with({"--seed", "1", "--top-k", "1"}), with({"--seed", "2", "--top-p", "0.0001"}));
}

TEST_F(GenerateCommand, TakesACheckpointOfAnyStepAndNumberOfRanks) {
  train_on_text({"--nproc-per-node", "2", "--save-interval", "40"});
  const fs::path first = run("run") / "checkpoints" / "step_00000040";
  const ProgramResult result = run_program({built_program("slipway"), "generate", "--checkpoint", first.string(),
                                            "--prompt", std::string(100, 'a'), "--max-new-tokens", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("the model sees 64 tokens at once"));
}

TEST_F(GenerateCommand, SaysWhatIsMissing) {
  train_on_text();
  struct Case {
    std::vector<std::string> options;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases{
      {{}, 2, "give the text to go on from, by --prompt TEXT or by --prompt-file FILE"},
      {{"--prompt", "a", "--prompt-file", "b"}, 2, "one of them"},
      {{"--prompt-file", "/dev/null"}, 2, "the prompt is empty"},
      {{"--prompt", "a", "--temperatur", "1"}, 2, "unknown flag --temperatur; did you mean --temperature?"},
      {{"--prompt", "a", "--top-p", "0"}, 2, "--top-p is 0"},
      {{"--prompt", "a", "--tokenizer", "bite"}, 6, "no tokenizer plugin is named 'bite'"},
  };
  for (const Case& wrong : cases) {
    const ProgramResult result = generate(wrong.options);
    EXPECT_EQ(result.exit_code, wrong.exit_code) << result.out;
    EXPECT_THAT(result.out, HasSubstr(wrong.message));
  }
  const ProgramResult nowhere =
      run_program({built_program("slipway"), "generate", "--checkpoint", run("none").string(), "--prompt", "a"});
  EXPECT_EQ(nowhere.exit_code, 4);
  EXPECT_THAT(nowhere.out, HasSubstr("there is no folder"));
  EXPECT_THAT(run_program({built_program("slipway"), "generate", "--help"}).out, HasSubstr("--top-k"));
}

// Made-up ids belong to no tokenizer, and a bigram gives no logits.
TEST_F(GenerateCommand, RefusesModelsThatHaveNoText) {
  train_well("run", tiny());
  const ProgramResult unknown = generate({"--prompt", "a"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.out, HasSubstr("give --tokenizer NAME"));
  EXPECT_EQ(generate({"--prompt", "a", "--tokenizer", "byte", "--max-new-tokens", "3"}).exit_code, 0);
}

}  // namespace
}  // namespace slipway
