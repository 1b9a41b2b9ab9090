#include "core/parallel/schedule/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/error.h"
#include "core/parallel/schedule/validate.h"
#include "tests/unit/parallel/every_schedule.h"

namespace slipway {
namespace {

// Equal stages, a backward twice a forward.
StageTimes equal(const Schedule& schedule, double transfer = 0) {
  const auto stages = static_cast<size_t>(schedule.num_stages());
  return {std::vector<double>(stages, 1), std::vector<double>(stages, 2), transfer};
}

std::string complaint_of(const Schedule& schedule) {
  try {
    validate(schedule);
    return "";
  } catch (const ConfigError& error) {
    return error.what();
  }
}

bool ends(const Schedule& schedule) {
  const Timeline timeline = simulate(schedule, equal(schedule));
  for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    if (timeline.ranks[rank].size() != schedule.ranks[rank].size()) return false;
  }
  return true;
}

TEST(Simulate, BubbleIsThatOfTheFormula) {
  const Schedule plain = one_forward_one_backward(4, 8), two_chunks = interleaved(4, 2, 8, 4);
  EXPECT_EQ(simulate(plain, equal(plain)).bubble, 3.0 / 8);
  EXPECT_EQ(simulate(plain, equal(plain)).total, 3.0 * (8 + 3));
  EXPECT_EQ(simulate(two_chunks, equal(two_chunks)).bubble, 3.0 / (8 * 2));
  for (int32_t pp = 1; pp <= 5; ++pp) {
    for (int32_t m = pp; m <= 15; m += pp) {
      const Schedule one = one_forward_one_backward(pp, m);
      EXPECT_NEAR(simulate(one, equal(one)).bubble, (pp - 1.0) / m, 1e-12) << pp << " " << m;
      if (pp == 1) continue;
      const Schedule three = interleaved(pp, 3, m, pp);
      EXPECT_NEAR(simulate(three, equal(three)).bubble, (pp - 1.0) / (m * 3), 1e-12) << pp << " " << m;
    }
  }
}

TEST(Simulate, OneRankNeverWaits) {
  const Schedule schedule = one_forward_one_backward(1, 3);
  const Timeline timeline = simulate(schedule, {{0.5}, {1.5}, 100});
  EXPECT_EQ(timeline.total, 6);
  EXPECT_EQ(timeline.bubble, 0);
}

TEST(Simulate, TransfersAndUnequalStagesDelay) {
  const Schedule schedule = one_forward_one_backward(2, 1);
  const Timeline timeline = simulate(schedule, {{1, 10}, {2, 20}, 0.5});
  EXPECT_EQ(timeline.ranks[1][0].start, 1.5);
  EXPECT_EQ(timeline.ranks[1][1].end, 31.5);
  EXPECT_EQ(timeline.ranks[0][1].start, 32);
  EXPECT_EQ(timeline.total, 34);
  EXPECT_DOUBLE_EQ(timeline.bubble, 4.0 / 30);
}

TEST(Simulate, EveryPassRunsOnceInItsRanksOrder) {
  for_every_schedule([](const Schedule& schedule) {
    const Timeline timeline = simulate(schedule, equal(schedule, 0.25));
    for (size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      const auto& entries = timeline.ranks[rank];
      ASSERT_EQ(entries.size(), schedule.ranks[rank].size());
      for (size_t i = 0; i < entries.size(); ++i) {
        EXPECT_EQ(entries[i].pass, schedule.ranks[rank][i]);
        EXPECT_GE(entries[i].start, i == 0 ? 0 : entries[i - 1].end);
        EXPECT_LE(entries[i].end, timeline.total);
      }
    }
  });
}

// Two independent answers to whether a table comes to its end, for tables in any order.
TEST(Simulate, ComesToTheEndOfWhatIsValid) {
  std::mt19937 random(1);
  int valid = 0;
  for (int round = 0; round < 2000; ++round) {
    Schedule schedule = round % 2 == 0 ? one_forward_one_backward(2, 3) : interleaved(2, 2, 2, 2);
    for (auto& passes : schedule.ranks) {
      const size_t a = random() % passes.size(), b = random() % passes.size();
      std::swap(passes[a], passes[b]);
      if (round % 3 == 0) std::shuffle(passes.begin(), passes.end(), random);
    }
    const std::string complaint = complaint_of(schedule);
    if (complaint.find("before its forward") != std::string::npos) continue;  // the simulation does not look at that
    valid += complaint.empty() ? 1 : 0;
    EXPECT_EQ(complaint.empty(), ends(schedule)) << schedule_to_json(schedule) << complaint;
  }
  EXPECT_GT(valid, 100);
}

TEST(Simulate, NothingTakesNoTime) {
  const Schedule schedule = one_forward_one_backward(2, 2);
  const Timeline timeline = simulate(schedule, {{0, 0}, {0, 0}, 0});
  EXPECT_EQ(timeline.total, 0);
  EXPECT_EQ(timeline.bubble, 0);
  EXPECT_EQ(gantt(timeline, 1), "rank 0 ||\nrank 1 ||\n");
}

TEST(Gantt, ShowsPassesAndWaiting) {
  const Schedule schedule = one_forward_one_backward(2, 2);
  EXPECT_EQ(gantt(simulate(schedule, equal(schedule)), 0.5),
            "rank 0 |0-1-....0===..1===|\n"
            "rank 1 |..0-0===1-1===....|\n");
}

TEST(Gantt, AnyUnitFitsTheLine) {
  const Schedule schedule = one_forward_one_backward(3, 12);
  const Timeline timeline = simulate(schedule, equal(schedule, 0.3));
  for (const double unit : {0.07, 0.9, 1.0, 3.3, 41.0, 1e6}) {
    const std::string picture = gantt(timeline, unit);
    EXPECT_EQ(std::count(picture.begin(), picture.end(), '\n'), 3) << unit;
  }
}

}  // namespace
}  // namespace slipway
