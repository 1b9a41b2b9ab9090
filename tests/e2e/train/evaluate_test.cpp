// Evaluation: at an interval, after training, and alone.
#include <cmath>

#include "tests/e2e/train/train_command.h"

namespace slipway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class EvaluateCommand : public TrainCommand {
 protected:
  static std::vector<std::string> steps(const std::string& number, int ranks) {
    return {"--manifest", manifest("tiny.json"), "--train-iters",      number, "--cpu-threads",
            "1",          "--nproc-per-node",    std::to_string(ranks)};
  }
  static std::vector<std::string> twelve(int ranks, const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = steps("12", ranks);
    options.insert(options.end(), {"--eval-interval", "5", "--eval-iters", "3"});
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }

  std::vector<json> evaluations(const std::string& output) const {
    std::vector<json> found;
    for (const json& line : metrics_of(run(output))) {
      if (line.contains("valid_loss") || line.contains("test_loss")) found.push_back(line);
    }
    return found;
  }
};

TEST_F(EvaluateCommand, RunsAtTheIntervalAndAfterTraining) {
  train_well("a", twelve(1));
  const std::vector<json> lines = evaluations("a");
  ASSERT_EQ(lines.size(), 4u);
  const int64_t steps[] = {5, 10, 12, 12};
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool is_test = i == 3;
    const double loss = lines[i].at(is_test ? "test_loss" : "valid_loss");
    EXPECT_EQ(lines[i].at("step"), steps[i]);
    EXPECT_EQ(lines[i].contains("final"), i >= 2);
    EXPECT_DOUBLE_EQ(lines[i].at(is_test ? "test_ppl" : "valid_ppl").get<double>(), std::exp(loss));
    EXPECT_EQ(lines[i].at(is_test ? "test lm loss" : "valid lm loss"), loss);
  }
  EXPECT_LT(lines[2].at("valid_loss").get<double>(), lines[0].at("valid_loss").get<double>());
}

TEST_F(EvaluateCommand, DoesNotDependOnTheLayout) {
  train_well("one", twelve(1));
  train_well("two", twelve(2, {"--micro-batch-size", "2"}));
  const auto one = evaluations("one"), two = evaluations("two");
  ASSERT_EQ(one.size(), two.size());
  for (size_t i = 0; i < one.size(); ++i) {
    const char* key = one[i].contains("test_loss") ? "test_loss" : "valid_loss";
    EXPECT_NEAR(one[i].at(key).get<double>(), two[i].at(key).get<double>(), 1e-5 * one[i].at(key).get<double>());
  }
}

// Training does not notice that it is evaluated.
TEST_F(EvaluateCommand, ChangesNothingOfTraining) {
  train_well("with", twelve(1));
  train_well("without", steps("12", 1));
  EXPECT_EQ(evaluations("without").size(), 0u);
  EXPECT_EQ(tensors_of(run("with"), 12), tensors_of(run("without"), 12));
}

TEST_F(EvaluateCommand, SkipTrainGivesTheNumbersOfTheEnd) {
  train_well("a", twelve(1));
  const auto straight = metrics_of(run("a"));
  train_well("a", twelve(2, {"--resume", "--skip-train"}));
  const auto again = metrics_of(run("a"));
  ASSERT_EQ(again.size(), straight.size());
  EXPECT_NEAR(again.back().at("test_loss").get<double>(), straight.back().at("test_loss").get<double>(), 1e-5);
  // A new model, only evaluated: the loss of guessing.
  train_well("fresh", twelve(1, {"--skip-train"}));
  ASSERT_EQ(metrics_of(run("fresh")).size(), 2u);
  EXPECT_NEAR(metrics_of(run("fresh"))[0].at("valid_loss").get<double>(), std::log(250.0), 0.3);
}

TEST_F(EvaluateCommand, RefusesWhatMakesNoSense) {
  const ProgramResult nothing = train("a", {"--manifest", manifest("tiny.json"), "--skip-train"});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.out, HasSubstr("--skip-train only evaluates and train.eval_iters is 0; give --eval-iters"));
  const ProgramResult no_part = train("a", twelve(1, {"--split", "1,0,0"}));
  EXPECT_EQ(no_part.exit_code, 2);
  EXPECT_THAT(no_part.out, HasSubstr("leaves nothing for validation; give that part a weight"));
  EXPECT_FALSE(fs::exists(run("a")));
}

// A terminal gets one line that is drawn anew, the log lines go to the file.
TEST_F(EvaluateCommand, ATerminalShowsOneLiveLine) {
  std::vector<std::string> command{"/usr/bin/env",
                                   "TERM=xterm",
                                   "python3",
                                   "-c",
                                   "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)",
                                   built_program("slipway"),
                                   "train",
                                   "--output-dir",
                                   run("a").string()};
  for (const std::string& option : steps("60", 1)) command.push_back(option);
  const ProgramResult result = run_program(command);
  ASSERT_EQ(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.out, HasSubstr("\r\x1b[Kstep "));
  EXPECT_THAT(result.out, HasSubstr(" of 60 | "));
  EXPECT_THAT(result.out, testing::Not(HasSubstr(" iteration       60/      60 |")));
  std::ifstream file(run("a") / "log.txt");
  const std::string log((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(log, HasSubstr(" iteration       60/      60 |"));
  EXPECT_THAT(log, HasSubstr("rank(s), data parallel"));
  EXPECT_THAT(log, testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace slipway
