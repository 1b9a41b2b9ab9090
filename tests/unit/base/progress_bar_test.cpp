#include "core/base/progress_bar.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(ProgressText, IsABarWithTheTimeLeft) {
  EXPECT_EQ(progress_text("evaluating", 1, 4, 2.0), "evaluating [======>                 ]  25 %  time left 6.0 s");
  EXPECT_EQ(progress_text("evaluating", 0, 4, 2.0), "evaluating [>                       ]   0 %");
  EXPECT_EQ(progress_text("evaluating", 4, 4, 2.0), "evaluating [========================] 100 %");
  EXPECT_EQ(progress_text("evaluating", 9, 4, 2.0), "evaluating [========================] 100 %");
}

TEST(ProgressText, WithoutATotalIsACount) { EXPECT_EQ(progress_text("reading", 7, 0, 2.0), "reading: 7 after 2.0 s"); }

TEST(ProgressBar, IsSilentWithoutALog) {
  ProgressBar bar(nullptr, "evaluating", 2);
  bar.advance(2);
}

}  // namespace
}  // namespace slipway
