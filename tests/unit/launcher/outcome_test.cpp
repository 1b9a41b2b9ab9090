#include "launcher/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

namespace slipway {
namespace {

using testing::HasSubstr;

RankEnd reported(int rank, int order, RankReport report) {
  RankEnd end;
  end.name = "rank " + std::to_string(rank);
  end.exit_code = report.exit_code;
  end.report = std::move(report);
  end.order = order;
  return end;
}

RankEnd killed(int rank, int order, int signal) {
  RankEnd end;
  end.name = "rank " + std::to_string(rank);
  end.signal = signal;
  end.order = order;
  return end;
}

RankEnd ended(int rank, int order, int exit_code) {
  RankEnd end;
  end.name = "rank " + std::to_string(rank);
  end.exit_code = exit_code;
  end.order = order;
  return end;
}

TEST(Outcome, DoneIsSilent) {
  const Outcome outcome = outcome_of({ended(0, 0, 0), ended(1, 0, 0)});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.message, "");
}

TEST(Outcome, FailingRankIsNamedWithItsStep) {
  const Outcome outcome = outcome_of({ended(0, 0, 0), reported(1, 1, {"no such file: x", "initialize", 5})});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.message, "rank 1 failed in initialize: no such file: x");
}

TEST(Outcome, SameMessageOfAllIsToldOnceWithoutRank) {
  const RankReport data{"the data is empty", "build_iterators", 5};
  EXPECT_EQ(outcome_of({reported(0, 2, data), reported(1, 1, data)}).message,
            "failed in build_iterators: the data is empty");
  const RankReport usage{"run.json: unknown key", "configuration", 2};
  EXPECT_EQ(outcome_of({reported(0, 2, usage), reported(1, 1, usage)}).message, "run.json: unknown key");
}

TEST(Outcome, LostPeerIsAConsequence) {
  const RankReport lost{"connection closed by peer", "train", 3};
  const Outcome crashed = outcome_of({reported(0, 1, lost), killed(1, 2, SIGSEGV)});
  EXPECT_EQ(crashed.exit_code, 3);
  EXPECT_THAT(crashed.message, HasSubstr("rank 1 was killed by SIGSEGV"));
  const Outcome failed = outcome_of({reported(0, 1, lost), reported(1, 2, {"disk full", "train", 4})});
  EXPECT_EQ(failed.message, "rank 1 failed in train: disk full");
  EXPECT_EQ(failed.exit_code, 4);
}

TEST(Outcome, CrashInAPluginCallNamesItAndIsThePlugins) {
  RankEnd end = killed(0, 1, SIGSEGV);
  end.crumb = "init of /x/y.so";
  const Outcome outcome = outcome_of({end});
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_THAT(outcome.message, HasSubstr("rank 0 was killed by SIGSEGV (Segmentation fault) during init of /x/y.so"));
}

TEST(Outcome, KilledFromOutsideHintsAtMemory) {
  EXPECT_THAT(outcome_of({killed(0, 1, SIGKILL)}).message, HasSubstr("out of memory"));
}

TEST(Outcome, ReporterThatHadToBeKilledIsStillTheCause) {
  RankEnd hanging = reported(1, 1, {"broken", "finalize", 4});
  hanging.exit_code = 0;
  hanging.signal = SIGKILL;
  hanging.killed_by_us = true;
  RankEnd stopped = killed(0, 0, SIGTERM);
  stopped.killed_by_us = true;
  const Outcome outcome = outcome_of({stopped, hanging});
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_EQ(outcome.message, "rank 1 failed in finalize: broken");
}

TEST(Outcome, SilentExitCodeIsTold) {
  const Outcome outcome = outcome_of({ended(0, 1, 7)});
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.message, HasSubstr("rank 0 ended with exit code 7"));
}

TEST(Outcome, OrderlyEndsKeepTheirCodeAndSayNothing) {
  for (const int code : {16, 17, 20}) {
    const Outcome outcome = outcome_of({ended(0, 0, code), ended(1, 0, code)});
    EXPECT_EQ(outcome.exit_code, code);
    EXPECT_EQ(outcome.message, "");
  }
}

TEST(Outcome, StopWithoutSavingIsTold) {
  RankEnd end = killed(0, 0, SIGINT);
  end.killed_by_us = true;
  const Outcome outcome = outcome_of({end});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message, "stopped by SIGINT (Interrupt) before the end");
}

TEST(Outcome, ReportLinesAreTakenAndOthersIgnored) {
  RankEnd end;
  EXPECT_FALSE(take_report_line("{\"crumb\": \"init of x\"}", end));
  EXPECT_EQ(end.crumb, "init of x");
  for (const char* line : {"", "garbage", "[1]", "{\"error\": ", "{\"error\":\"bye\",\"exit_code\":20}"}) {
    EXPECT_FALSE(take_report_line(line, end)) << line;
  }
  EXPECT_TRUE(take_report_line("{\"error\":\"bad\",\"exit_code\":5,\"step\":\"train\"}", end));
  EXPECT_FALSE(take_report_line("{\"error\":\"second\",\"exit_code\":6,\"step\":\"train\"}", end));
  EXPECT_EQ(end.report->message, "bad");
  EXPECT_EQ(end.report->exit_code, 5);
}

// Of two ranks in step 7, with one group "dp".
RankTrace trace(int64_t last, bool waits) {
  RankTrace trace{7, "step 7 backward", {{"dp", {0, 1}, last}}, {}};
  if (waits) trace.waits_in = AwaitedCall{"dp", {0, 1}, "all_reduce", last, 4096, -1, 0.125};
  return trace;
}

RankEnd victim(int rank, int order, const RankTrace& trace) {
  RankEnd end = reported(rank, order, {"all_reduce failed: closed by peer", "step 7 backward", 3});
  end.trace = trace;
  return end;
}

constexpr const char* kWaitLine =
    "\n  rank 0 waits in all_reduce #31 of group dp (ranks 0, 1; 4096 bytes) since 0.1 s; rank 1 never arrived";

TEST(Outcome, TheKilledRankIsNamedWithItsStepAndWhoWaits) {
  const Outcome outcome = outcome_of({victim(0, 1, trace(31, true)), killed(1, 2, SIGKILL)});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message,
            std::string("rank 1 was killed by SIGKILL (Killed) during step 7; the machine may have run out of memory, "
                        "the kernel's log tells") +
                kWaitLine);
}

TEST(Outcome, TheThrowingRankMayHaveArrived) {
  RankEnd thrower = reported(1, 2, {"it broke", "step 7 forward", 6});
  thrower.trace = trace(30, false);
  EXPECT_EQ(outcome_of({victim(0, 1, trace(31, true)), thrower}).message,
            std::string("rank 1 failed in step 7 forward: it broke") + kWaitLine);
  thrower.trace = trace(31, false);
  EXPECT_EQ(outcome_of({victim(0, 1, trace(31, true)), thrower}).message,
            "rank 1 failed in step 7 forward: it broke\n  rank 0 waits in all_reduce #31 of group dp (ranks 0, 1; 4096 "
            "bytes) since 0.1 s");
}

TEST(Outcome, ARankThatDidNotAnswerIsTheCauseOfATimeout) {
  RankEnd stopped = killed(1, 0, SIGKILL);
  stopped.killed_by_us = true;
  const Outcome silent = outcome_of({victim(0, 1, trace(31, true)), stopped});
  EXPECT_EQ(silent.exit_code, 3);
  EXPECT_EQ(silent.message,
            std::string("rank 1 never arrived: it did not answer (stopped or hanging) and was killed during step 7") +
                kWaitLine);
  stopped.trace = trace(30, false);
  EXPECT_EQ(outcome_of({victim(0, 1, trace(31, true)), stopped}).message,
            std::string("rank 1 never arrived: it was in step 7 backward, did not end when asked to and was killed") +
                kWaitLine);
}

// The cause is elsewhere, on another machine perhaps.
TEST(Outcome, AVictimThatStandsInForTheCauseSaysWhereItWaits) {
  EXPECT_EQ(outcome_of({victim(0, 1, trace(31, true)), killed(1, 0, 0)}).message,
            std::string("rank 0 failed in step 7 backward: all_reduce failed: closed by peer") + kWaitLine);
}

TEST(Outcome, RanksThatWaitTogetherShareALine) {
  std::vector<RankEnd> ends;
  for (int rank = 0; rank < 6; ++rank) {
    RankTrace trace{7, "step 7 update", {{"dp", {0, 1, 2, 3, 4, 5}, 8}}, {}};
    if (rank < 3) trace.waits_in = AwaitedCall{"dp", {0, 1, 2, 3, 4, 5}, "barrier", 8, 0, -1, rank * 1.0};
    if (rank == 3) trace = {7, "step 7 forward", {{"dp", {0, 1, 2, 3, 4, 5}, 7}}, {}};
    if (rank == 4) trace.waits_in = AwaitedCall{"pp", {4, 5}, "recv", 2, 64, 5, 3.0};
    ends.push_back(rank == 5 ? killed(5, 6, SIGSEGV) : victim(rank, rank + 1, trace));
  }
  EXPECT_EQ(outcome_of(ends).message,
            "rank 5 was killed by SIGSEGV (Segmentation fault) during step 7\n"
            "  ranks 0-2 wait in barrier #8 of group dp (ranks 0-5; 0 bytes) since 2.0 s; ranks 3, 5 never arrived\n"
            "  rank 4 waits in recv #2 with rank 5 of group pp (ranks 4, 5; 64 bytes) since 3.0 s; rank 5 never "
            "arrived\n"
            "  rank 3 was in step 7 forward");
}

TEST(Outcome, TracesCrossThePipe) {
  RankEnd end;
  const RankTrace sent = trace(31, true);
  EXPECT_FALSE(take_report_line(nlohmann::json{{"trace", to_json(sent)}}.dump(), end));
  EXPECT_EQ(end.trace, sent);
  EXPECT_FALSE(take_report_line("{\"trace\": 3}", end));
  EXPECT_FALSE(end.trace);
}

}  // namespace
}  // namespace slipway
