#include "core/parallel/loss_counts.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "core/base/error.h"

namespace slipway {
namespace {

// A batch whose only field is loss_mask.
class MaskBatch {
 public:
  explicit MaskBatch(std::vector<float> mask)
      : mask_(std::move(mask)),
        shape_(static_cast<int64_t>(mask_.size())),
        tensor_{mask_.data(), {SLW_DEVICE_CPU, 0}, 1, {SLW_CODE_FLOAT, 32, 1}, &shape_, &stride_, 0},
        view_{SLW_SIZE_TO(slw_batch, get), 0, this, get} {}
  MaskBatch(const MaskBatch&) = delete;

  Microbatch microbatch() const { return {&view_, 1, shape_, nullptr}; }

 private:
  static const slw_tensor* get(const slw_batch* batch, const char* field) {
    const bool is_mask = std::string(field) == "loss_mask";
    return is_mask ? &static_cast<const MaskBatch*>(batch->impl)->tensor_ : nullptr;
  }
  std::vector<float> mask_;
  int64_t shape_, stride_ = 1;
  slw_tensor tensor_;
  slw_batch view_;
};

const LossDeclaration kLm{"lm loss", SLW_NORM_FIELD, "loss_mask"};
const LossDeclaration kSop{"sop loss", SLW_NORM_SAMPLES, "", 0.5};

TEST(LossCounts, CountEachLossByItsOwnRule) {
  const MaskBatch a({1, 0, 1, 1}), b({1, 0, 0, 0});
  const StepHeader header = count_losses({kLm, kSop}, {a.microbatch(), b.microbatch()});
  EXPECT_EQ(header.totals, (std::vector<double>{4, 2}));
  EXPECT_EQ(header.counts[0], (std::vector<double>{3, 1}));
}

TEST(LossCounts, TokenNormalisationWeighsEveryTokenAlike) {
  const MaskBatch a({1, 0, 1, 1}), b({1, 0, 0, 0});
  const StepHeader header = count_losses({kLm, kSop}, {a.microbatch(), b.microbatch()});
  for (const size_t m : {0u, 1u}) {
    EXPECT_DOUBLE_EQ(loss_gradient(header, kLm, 0, m, LossNormalization::kToken), 1.0 / 4);
    EXPECT_DOUBLE_EQ(loss_gradient(header, kSop, 1, m, LossNormalization::kToken), 0.5 / 2);
  }
}

TEST(LossCounts, MicrobatchNormalisationIsAMeanOfMeans) {
  const MaskBatch a({1, 0, 1, 1}), b({1, 0, 0, 0});
  const StepHeader header = count_losses({kLm}, {a.microbatch(), b.microbatch()});
  EXPECT_DOUBLE_EQ(loss_gradient(header, kLm, 0, 0, LossNormalization::kMicrobatch), 1.0 / (3 * 2));
  EXPECT_DOUBLE_EQ(loss_gradient(header, kLm, 0, 1, LossNormalization::kMicrobatch), 1.0 / (1 * 2));
}

TEST(LossCounts, NothingToPredictDividesByNothing) {
  const MaskBatch a({0, 0});
  const StepHeader header = count_losses({kLm}, {a.microbatch()});
  EXPECT_DOUBLE_EQ(loss_gradient(header, kLm, 0, 0, LossNormalization::kToken), 1.0);
}

TEST(LossCounts, AMissingFieldIsNamed) {
  const MaskBatch a({1});
  EXPECT_THROW(count_losses({{"mlm loss", SLW_NORM_FIELD, "other_mask"}}, {a.microbatch()}), DataError);
}

}  // namespace
}  // namespace slipway
