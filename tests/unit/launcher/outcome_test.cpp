#include "launcher/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

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

}  // namespace
}  // namespace slipway
