// Generated schedules against the rules and numbers of Megatron-core, the check of any table, and tables in files.
#include "core/parallel/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/parallel/schedule/transfers.h"
#include "core/parallel/schedule/validate.h"
#include "tests/unit/config/errors.h"
#include "tests/unit/parallel/every_schedule.h"

namespace slipway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Pass f(int32_t microbatch, int32_t chunk = 0) { return {PassKind::kForward, chunk, microbatch}; }
Pass b(int32_t microbatch, int32_t chunk = 0) { return {PassKind::kBackward, chunk, microbatch}; }

// Forwards before the first backward, without the one that opens the steady part.
std::vector<int64_t> warmups(const Schedule& schedule) {
  std::vector<int64_t> counts;
  for (const std::vector<Pass>& passes : schedule.ranks) {
    const auto first =
        std::find_if(passes.begin(), passes.end(), [](const Pass& p) { return p.kind == PassKind::kBackward; });
    const int64_t forwards = first - passes.begin();
    const bool all_first = forwards * 2 == static_cast<int64_t>(passes.size());
    counts.push_back(all_first ? forwards : forwards - 1);
  }
  return counts;
}

std::string complaint(const Schedule& schedule) {
  return message_of([&] { validate(schedule); });
}

TEST(Schedule, WarmUpsAreThoseOfTheReference) {
  EXPECT_THAT(warmups(interleaved(4, 2, 8, 4)), ElementsAre(10, 8, 6, 4));
  EXPECT_THAT(warmups(interleaved(2, 2, 4, 2)), ElementsAre(4, 2));
  EXPECT_THAT(warmups(one_forward_one_backward(4, 8)), ElementsAre(3, 2, 1, 0));
}

TEST(Schedule, OrderOfChunksIsThatOfTheReference) {
  std::vector<int32_t> microbatches, chunks;
  for (const Pass& pass : interleaved_order(2, 5, 3)) {
    microbatches.push_back(pass.microbatch);
    chunks.push_back(pass.chunk);
  }
  EXPECT_THAT(microbatches, ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 3, 4));
  EXPECT_THAT(chunks, ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 1, 1));
}

TEST(Schedule, SmallOnesByHand) {
  EXPECT_THAT(one_forward_one_backward(1, 2).ranks[0], ElementsAre(f(0), b(0), f(1), b(1)));
  const Schedule two = one_forward_one_backward(2, 2);
  EXPECT_THAT(two.ranks[0], ElementsAre(f(0), f(1), b(0), b(1)));
  EXPECT_THAT(two.ranks[1], ElementsAre(f(0), b(0), f(1), b(1)));
  EXPECT_THAT(interleaved(2, 2, 2, 2).ranks[1],
              ElementsAre(f(0), f(1), f(0, 1), b(0, 1), f(1, 1), b(1, 1), b(0), b(1)));
  EXPECT_THAT(forward_only(2, 2, 3).ranks[0], ElementsAre(f(0), f(1), f(0, 1), f(1, 1), f(2), f(2, 1)));
}

TEST(Schedule, EveryGeneratedOneIsValid) {
  int count = 0;
  for_every_schedule([&](const Schedule& schedule) {
    EXPECT_NO_THROW(validate(schedule));
    EXPECT_EQ(schedule_from_json(schedule_to_json(schedule), "x"), schedule);
    ++count;
  });
  EXPECT_GT(count, 300);
}

TEST(Schedule, GroupsThatDoNotFitAreRefusedWithTheNearest) {
  const auto group = [](int32_t pp, int32_t m, int32_t g) { return message_of([=] { interleaved(pp, 2, m, g); }); };
  EXPECT_THAT(group(4, 8, 3), HasSubstr("8 microbatches in groups of 3 on 4 pipeline ranks"));
  EXPECT_THAT(group(4, 8, 3), HasSubstr("at most all of them: 4 to 8"));
  EXPECT_THAT(group(4, 8, 9), HasSubstr("at most all of them: 4 to 8"));
  EXPECT_THAT(group(4, 3, 4), HasSubstr("nearest: 4 microbatches"));
  EXPECT_THAT(group(4, 10, 4), HasSubstr("leaves a group of 2 for 4 pipeline ranks; nearest: 8 or 12 microbatches"));
  EXPECT_NO_THROW(interleaved(4, 2, 13, 9));
}

TEST(ScheduleCheck, SizesAreChecked) {
  EXPECT_THAT(complaint({0, 1, 1, {}}), HasSubstr("at least 1"));
  EXPECT_THAT(complaint({1, 1, 0, {{}}}), HasSubstr("at least 1"));
  EXPECT_THAT(complaint({2, 1, 1, {{f(0)}}}), HasSubstr("one list of passes per pipeline rank"));
  EXPECT_THAT(complaint({1, 2, 1, {{f(0), f(0, 1)}}}), HasSubstr("2 chunks per rank need at least 2 pipeline ranks"));
}

TEST(ScheduleCheck, EachPassHasToBeThereOnce) {
  EXPECT_THAT(complaint({1, 1, 2, {{f(0), b(0), f(1)}}}), HasSubstr("rank 0 lacks B1"));
  EXPECT_THAT(complaint({2, 1, 2, {{f(0), f(1), b(0), b(1)}, {f(0), b(0)}}}), HasSubstr("rank 1 lacks F1"));
  EXPECT_THAT(complaint({2, 2, 1, {{f(0), f(0, 1)}, {f(0)}}}), HasSubstr("rank 1 lacks F0.1"));
  EXPECT_THAT(complaint({1, 1, 1, {{f(0), f(0), b(0)}}}), HasSubstr("rank 0 has F0 twice"));
  EXPECT_THAT(complaint({1, 1, 1, {{f(0), b(0), b(0)}}}), HasSubstr("rank 0 has B0 twice"));
  EXPECT_THAT(complaint({1, 1, 1, {{b(0), f(0)}}}), HasSubstr("rank 0 has B0 before its forward"));
  EXPECT_THAT(complaint({1, 1, 1, {{f(0), f(1)}}}), HasSubstr("rank 0 has F1; there are 1 microbatches"));
  EXPECT_THAT(complaint({1, 1, 1, {{f(-1)}}}), HasSubstr("rank 0 has F-1"));
  EXPECT_THAT(complaint({2, 1, 1, {{f(0), b(0)}, {f(0, 1)}}}), HasSubstr("rank 1 has F0"));
  EXPECT_THAT(complaint({1, 1, 1, {{}}}), HasSubstr("rank 0 lacks F0"));
}

TEST(ScheduleCheck, ATableSmallerThanItSaysTakesNoMemory) {
  EXPECT_THAT(complaint({2, 1 << 20, 1 << 20, {{}, {}}}), HasSubstr("rank 0 lacks F0.0"));
}

TEST(ScheduleCheck, RanksThatWaitForEachOtherAreNamed) {
  const std::string backwards = complaint({2, 1, 2, {{f(0), b(0), f(1), b(1)}, {f(0), f(1), b(0), b(1)}}});
  EXPECT_THAT(backwards, HasSubstr("rank 0 waits with B0 for B0 of rank 1"));
  EXPECT_THAT(backwards, HasSubstr("rank 1 waits with F1 for F1 of rank 0"));
  const std::string chunks = complaint({2, 2, 1, {{f(0, 1), f(0)}, {f(0), f(0, 1)}}});
  EXPECT_THAT(chunks, HasSubstr("rank 0 waits with F0.1 for F0.0 of rank 1"));
  EXPECT_THAT(chunks, HasSubstr("rank 1 waits with F0.0 for F0.0 of rank 0"));
}

TEST(ScheduleCheck, UnusualTablesThatEndAreFine) {
  EXPECT_NO_THROW(validate({2, 1, 3, {{f(2), f(0), f(1), b(1), b(2), b(0)}, {f(1), f(2), b(2), b(1), f(0), b(0)}}}));
  EXPECT_NO_THROW(validate({1, 1, 2, {{f(0), f(1), b(0), b(1)}}}));
}

TEST(ScheduleCheck, MemoryIsBounded) {
  const Schedule schedule = one_forward_one_backward(4, 8);
  EXPECT_NO_THROW(validate(schedule, 4));
  EXPECT_THAT(message_of([&] { validate(schedule, 3); }),
              HasSubstr("rank 0 keeps 4 microbatches alive, allowed are 3"));
}

TEST(ScheduleFile, IsReadWithComments) {
  const Schedule schedule = schedule_from_json(
      R"({"pipeline_model_parallel_size": 2, "num_microbatches": 1, // one
          "ranks": [["F0", "B0"], ["F0", "B0"]]})",
      "s.json");
  EXPECT_EQ(schedule, one_forward_one_backward(2, 1));
}

// A file that is right but for `ranks`, and what is said of it.
std::string complaint_of_ranks(const std::string& ranks, int vpp = 1) {
  const std::string text = R"({"pipeline_model_parallel_size": 2, "virtual_pipeline_model_parallel_size": )" +
                           std::to_string(vpp) + R"(, "num_microbatches": 1, "ranks": )" + ranks + "}";
  return message_of([&] { schedule_from_json(text, "s.json"); });
}

TEST(ScheduleFile, BadPassesAreRefusedWithTheirPlace) {
  EXPECT_THAT(complaint_of_ranks("3"),
              HasSubstr("s.json: ranks is 3 (an integer); wanted is a list of passes for each of 2"));
  EXPECT_THAT(complaint_of_ranks("[[]]"), HasSubstr("s.json: ranks is a list of 1"));
  EXPECT_THAT(complaint_of_ranks(R"([[], "F0"])"), HasSubstr("s.json: ranks[1] is \"F0\" (a string)"));
  EXPECT_THAT(complaint_of_ranks(R"([["F0", 7], []])"), HasSubstr("s.json: ranks[0][1] is 7"));
  for (const char* pass :
       {"", "F", "f0", "F-1", "F 1", "F1 ", "F0x", "G0", "F99999999999", "F0.0", "F0.", ".", "FB0", "F+1", "F1e1"}) {
    EXPECT_THAT(complaint_of_ranks(R"([[], [")" + std::string(pass) + R"("]])"), HasSubstr("s.json: ranks[1][0] is \""))
        << pass;
  }
  for (const char* pass : {"F0", "F0.", "F.0", "F0.1.2", "F0.-1", "F0..1"}) {
    EXPECT_THAT(complaint_of_ranks(R"([[], [")" + std::string(pass) + R"("]])", 2), HasSubstr("a dot and the chunk"))
        << pass;
  }
  EXPECT_LT(complaint_of_ranks(R"([[], [")" + std::string(1 << 20, 'F') + R"("]])").size(), 300u);
}

std::string complaint_of_text(const std::string& text) {
  return message_of([&] { schedule_from_json(text, "s.json"); });
}

TEST(ScheduleFile, OtherTextIsRefused) {
  for (const char* text : {"", "{", "[1", "{\"a\": 1,}", "\xff", "{} {}"}) {
    EXPECT_THAT(complaint_of_text(text), HasSubstr("s.json:1:")) << text;
  }
  for (const char* text : {"[]", "3", "null", "\"F0\""}) {
    EXPECT_THAT(complaint_of_text(text), HasSubstr("s.json: the file is ")) << text;
  }
  EXPECT_THAT(complaint_of_text(std::string(100000, '[')), HasSubstr("s.json: nested deeper"));
  EXPECT_THAT(complaint_of_text(R"({"ranks": [], "ranks": []})"), HasSubstr("\"ranks\" is given twice"));
  EXPECT_THAT(complaint_of_text(R"({"rank": []})"),
              HasSubstr("\"rank\" is no key of a schedule; did you mean \"ranks\"?"));
}

TEST(ScheduleFile, SizesAreWholeNumbersInRange) {
  EXPECT_THAT(complaint_of_text("{}"), HasSubstr("pipeline_model_parallel_size is missing"));
  for (const char* size :
       {"0", "-1", "1.0", "1e3", "true", "null", "\"2\"", "[2]", "1048577", "4294967297", "18446744073709551615"}) {
    const std::string text =
        R"({"pipeline_model_parallel_size": )" + std::string(size) + R"(, "num_microbatches": 1, "ranks": []})";
    EXPECT_THAT(complaint_of_text(text), HasSubstr("s.json: pipeline_model_parallel_size is ")) << size;
  }
  EXPECT_THAT(complaint_of_text(R"({"pipeline_model_parallel_size": 1, "num_microbatches": 0})"),
              HasSubstr("num_microbatches is 0 (an integer); wanted is a whole number from 1 to 1048576"));
}

}  // namespace
}  // namespace slipway
