// What ranks send each other for a schedule, for every generated one.
#include "core/parallel/schedule/transfers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "tests/unit/config/errors.h"
#include "tests/unit/parallel/every_schedule.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using Message = std::tuple<TransferWhat, int32_t, int32_t>;  // what, virtual stage that wants it, microbatch
using Channels = std::map<std::pair<int32_t, int32_t>, std::vector<Message>>;

Message identity(const Transfer& t, int32_t rank, const Schedule& s) {
  const int32_t stage = t.chunk * s.pp + rank;
  const int32_t step = t.what == TransferWhat::kActivation ? 1 : -1;
  return {t.what, t.is_send ? stage + step : stage, t.microbatch};
}

// All sends, or all receives, from one rank to another in their order.
Channels channels_of(const std::vector<RankProgram>& programs, const Schedule& s, bool sends) {
  Channels channels;
  for (int32_t rank = 0; rank < s.pp; ++rank) {
    for (const Action& action : programs[static_cast<size_t>(rank)].actions) {
      for (const Transfer& t : action.transfers) {
        const auto ends = t.is_send ? std::pair(rank, t.peer) : std::pair(t.peer, rank);
        if (t.is_send == sends) channels[ends].push_back(identity(t, rank, s));
      }
    }
  }
  return channels;
}

std::vector<Pass> computed(const RankProgram& program) {
  std::vector<Pass> passes;
  for (const Action& action : program.actions) {
    EXPECT_NE(action.compute.has_value(), !action.transfers.empty()) << "an action is one of the two";
    if (action.compute) passes.push_back(*action.compute);
  }
  return passes;
}

size_t count(const Channels& channels) {
  size_t total = 0;
  for (const auto& [ends, messages] : channels) total += messages.size();
  return total;
}

bool trains(const Schedule& s) {
  return s.ranks[0].size() == 2 * static_cast<size_t>(s.vpp) * static_cast<size_t>(s.num_microbatches);
}

TEST(Transfers, SendsMatchReceivesOneToOneInOrder) {
  for_every_schedule([](const Schedule& schedule) {
    const std::vector<RankProgram> programs = compile(schedule);
    const Channels sends = channels_of(programs, schedule, true);
    EXPECT_EQ(sends, channels_of(programs, schedule, false));
    const int32_t per_microbatch = (schedule.num_stages() - 1) * (trains(schedule) ? 2 : 1);
    EXPECT_EQ(count(sends), static_cast<size_t>(per_microbatch * schedule.num_microbatches));
  });
}

TEST(Transfers, ProgramsComputeWhatTheTableSays) {
  for_every_schedule([](const Schedule& schedule) {
    const std::vector<RankProgram> programs = compile(schedule);
    for (size_t rank = 0; rank < programs.size(); ++rank) EXPECT_EQ(computed(programs[rank]), schedule.ranks[rank]);
  });
}

// Everything that a computation needs was posted before it, and at most what the next one needs beside it.
TEST(Transfers, ReceivesArePostedOnePassAhead) {
  const Schedule schedule = one_forward_one_backward(3, 4);
  const RankProgram last = compile(schedule)[2];
  std::vector<std::string> steps;
  for (const Action& action : last.actions) {
    std::string text = action.compute ? to_string(*action.compute, 1) : "";
    for (const Transfer& t : action.transfers) {
      text += (t.is_send ? "send" : "recv") + std::to_string(t.microbatch) + " ";
    }
    steps.push_back(text);
  }
  EXPECT_THAT(steps, testing::ElementsAre("recv0 ", "F0", "recv1 ", "B0", "send0 ", "F1", "recv2 ", "B1", "send1 ",
                                          "F2", "recv3 ", "B2", "send2 ", "F3", "B3", "send3 "));
}

TEST(Transfers, LiveMicrobatchesAreWarmUpPlusOne) {
  for (int32_t pp = 1; pp <= 5; ++pp) {
    for (int32_t m = 1; m <= 12; ++m) {
      const std::vector<RankProgram> programs = compile(one_forward_one_backward(pp, m));
      for (int32_t rank = 0; rank < pp; ++rank) {
        EXPECT_EQ(programs[static_cast<size_t>(rank)].max_live, std::min(pp - rank, m)) << pp << " " << m;
      }
    }
  }
  const std::vector<RankProgram> interleaving = compile(interleaved(4, 2, 8, 4));
  EXPECT_EQ(interleaving[0].max_live, 11);
  EXPECT_EQ(interleaving[3].max_live, 5);
}

TEST(Transfers, OneRankSendsNothing) {
  const std::vector<RankProgram> programs = compile(one_forward_one_backward(1, 3));
  for (const Action& action : programs[0].actions) EXPECT_TRUE(action.compute);
}

TEST(Transfers, CompileRefusesWhatValidateRefuses) {
  const Pass forward{PassKind::kForward, 0, 0};
  EXPECT_THAT(message_of([&] { compile({2, 1, 1, {{forward}, {}}}); }), HasSubstr("rank 1 lacks F0"));
}

TEST(Transfers, ALargeOneCompilesInSeconds) {
  const std::vector<RankProgram> programs = compile(interleaved(64, 4, 512, 64));
  EXPECT_EQ(computed(programs[63]).size(), 2u * 4 * 512);
}

}  // namespace
}  // namespace slipway
