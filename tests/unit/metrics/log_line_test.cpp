#include "core/metrics/log_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

StepNumbers step(double loss, bool skipped = false) {
  StepNumbers numbers;
  numbers.losses = {{"lm loss", loss}};
  numbers.learning_rate = 1.5e-4;
  numbers.grad_norm = 2.25;
  numbers.skipped = skipped;
  numbers.consumed_samples = 64;
  numbers.global_batch = 8;
  numbers.tokens = 256;
  numbers.seconds = 0.5;
  return numbers;
}

TEST(LogInterval, WritesMegatronsFieldsAndWidths) {
  LogInterval interval;
  interval.add(step(2.0));
  interval.add(step(3.0));
  EXPECT_EQ(interval.line(8, 100),
            " iteration        8/     100 | consumed samples:           64 | elapsed time per iteration (ms): 500.0 |"
            " tokens per second: 512 | learning rate: 1.500000E-04 | global batch size:     8 |"
            " lm loss: 2.500000E+00 | loss scale: 1.0 | grad norm: 2.250 | number of skipped iterations:   0 |"
            " number of nan iterations:   0 |");
}

TEST(LogInterval, AveragesOverAppliedStepsOnly) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  LogInterval interval;
  interval.add(step(2.0));
  interval.add(step(kNan, true));
  interval.add(step(100.0, true));
  EXPECT_EQ(interval.steps(), 3);
  const std::string line = interval.line(3, 3);
  EXPECT_THAT(line, HasSubstr(" lm loss: 2.000000E+00 |"));
  EXPECT_THAT(line, HasSubstr(" number of skipped iterations:   2 |"));
  EXPECT_THAT(line, HasSubstr(" number of nan iterations:   1 |"));
}

TEST(LogInterval, AnIntervalOfSkippedStepsHasNoLoss) {
  LogInterval interval;
  interval.add(step(1.0, true));
  EXPECT_THAT(interval.line(1, 1), Not(HasSubstr("lm loss")));
}

TEST(LogInterval, ThroughputIsTeraflopsPerSecondOfARank) {
  LogInterval interval;
  StepNumbers numbers = step(2.0);
  numbers.flops_per_rank = 3e12;
  interval.add(numbers);
  interval.add(numbers);
  EXPECT_THAT(interval.line(2, 2),
              HasSubstr(" (ms): 500.0 | throughput per GPU (TFLOP/s/GPU): 6.0 | tokens per second"));
}

TEST(LiveLine, TellsWhereItIsAndHowLongItTakes) {
  LiveLine line;
  line.add(step(2.0));
  line.add(step(3.0));
  EXPECT_EQ(line.text(8, 100, 1600),
            "step 8 of 100 | 1 m 40 s left | lm loss 3.0000 | 512 tokens/s | lr 1.50E-04 | grad norm 2.250");
  EXPECT_THAT(line.text(100, 100, 0), Not(HasSubstr("left")));
}

TEST(EvaluationLine, IsMegatrons) {
  EXPECT_EQ(evaluation_line(100, "validation", {{"lm loss", 2.0}}),
            " validation loss at iteration 100 on validation set | lm loss value: 2.000000E+00 |"
            " lm loss PPL: 7.389056E+00 |");
  EXPECT_EQ(perplexity(1000.0), std::exp(20.0));
}

}  // namespace
}  // namespace slipway
