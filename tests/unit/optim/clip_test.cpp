#include "core/optim/clip.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace slipway {
namespace {

TEST(Clip, ScalesDownToTheLargestNorm) {
  EXPECT_DOUBLE_EQ(clip_coefficient(4.0, 1.0).value(), 1.0 / (4.0 + 1e-6));
  EXPECT_DOUBLE_EQ(clip_coefficient(1.0, 1.0).value(), 1.0 / (1.0 + 1e-6));
}

TEST(Clip, LeavesSmallGradientsAlone) {
  EXPECT_EQ(clip_coefficient(0.999, 1.0), 1.0);
  EXPECT_EQ(clip_coefficient(0.0, 1.0), 1.0);
}

TEST(Clip, ZeroMeansNever) { EXPECT_EQ(clip_coefficient(1e30, 0.0), 1.0); }

TEST(Clip, HasNoValueForANormThatIsNotFinite) {
  for (const double max_norm : {0.0, 1.0}) {
    EXPECT_FALSE(clip_coefficient(std::nan(""), max_norm));
    EXPECT_FALSE(clip_coefficient(std::numeric_limits<double>::infinity(), max_norm));
  }
}

}  // namespace
}  // namespace slipway
