#include "core/pretrain/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.h"
#include "tests/unit/config/errors.h"

namespace slipway {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ParallelConfig two_ranks() {
  ParallelConfig parallel;
  parallel.pipeline_model_parallel_size = 2;
  return parallel;
}

class ScheduleOfRun : public testing::Test {
 protected:
  std::string complaint(const std::string& text, int chunks = 1, int64_t microbatches = 1) {
    std::ofstream(file_) << text;
    ParallelConfig parallel = two_ranks();
    parallel.pipeline.pipeline_schedule = file_;
    return message_of([&] { training_schedule(parallel, chunks, microbatches); });
  }
  TempFolder folder_;
  std::string file_ = (folder_.path() / "table.json").string();
};

constexpr const char* kTwoByOne =
    R"({"pipeline_model_parallel_size": 2, "num_microbatches": 1, "ranks": [["F0", "B0"], ["F0", "B0"]]})";

TEST_F(ScheduleOfRun, IsGeneratedWithoutAFile) {
  EXPECT_EQ(training_schedule(two_ranks(), 1, 4), one_forward_one_backward(2, 4));
  EXPECT_EQ(training_schedule(two_ranks(), 2, 4), interleaved(2, 2, 4, 2));
  ParallelConfig grouped = two_ranks();
  grouped.pipeline.microbatch_group_size_per_vp_stage = 4;
  EXPECT_EQ(training_schedule(grouped, 2, 4), interleaved(2, 2, 4, 4));
}

TEST_F(ScheduleOfRun, AFileForAnotherRunIsNamed) {
  EXPECT_THAT(complaint(kTwoByOne, 2),
              AllOf(HasSubstr(file_), HasSubstr("virtual_pipeline_model_parallel_size 1, this run has 2")));
  EXPECT_THAT(complaint(kTwoByOne, 1, 8), AllOf(HasSubstr(file_), HasSubstr("size) 1, this run has 8")));
}

TEST_F(ScheduleOfRun, AFileThatCannotRunIsNamed) {
  const char* text = R"({"pipeline_model_parallel_size": 2, "num_microbatches": 1, "ranks": [["F0", "B0"], ["F0"]]})";
  EXPECT_THAT(complaint(text), AllOf(HasSubstr(file_), HasSubstr("rank 1 lacks B0")));
}

TEST_F(ScheduleOfRun, HugeNumbersAreRefused) {
  ParallelConfig parallel = two_ranks();
  EXPECT_THAT(message_of([&] { training_schedule(parallel, 1, 4294967304); }), HasSubstr("4294967304 microbatches"));
  parallel.pipeline.microbatch_group_size_per_vp_stage = 4294967298;
  EXPECT_THAT(message_of([&] { training_schedule(parallel, 2, 8); }), HasSubstr("at most all of them: 2 to 8"));
}

}  // namespace
}  // namespace slipway
