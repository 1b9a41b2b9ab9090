#include "core/comm/environment.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"

namespace slipway {
namespace {

Lookup from(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(RankEnvironment, IsOneRankWithoutALauncher) {
  const RankEnvironment environment = rank_environment(from({}));
  EXPECT_EQ(environment.world_size, 1);
  EXPECT_EQ(environment.rank, 0);
}

TEST(RankEnvironment, ReadsWhatTorchrunSets) {
  const RankEnvironment e = rank_environment(from({{"RANK", "5"},
                                                   {"WORLD_SIZE", "8"},
                                                   {"LOCAL_RANK", "1"},
                                                   {"LOCAL_WORLD_SIZE", "4"},
                                                   {"MASTER_ADDR", "node0"},
                                                   {"MASTER_PORT", "4000"}}));
  EXPECT_EQ(e.rank, 5);
  EXPECT_EQ(e.world_size, 8);
  EXPECT_EQ(e.local_rank, 1);
  EXPECT_EQ(e.local_world_size, 4);
  EXPECT_EQ(e.master_addr, "node0");
  EXPECT_EQ(e.master_port, 4000);
}

TEST(RankEnvironment, ReadsSlurmAndMpi) {
  EXPECT_EQ(rank_environment(from({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "4"}, {"MASTER_ADDR", "a"}})).rank, 3);
  EXPECT_EQ(
      rank_environment(from({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}})).rank,
      2);
  EXPECT_EQ(rank_environment(from({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MASTER_ADDR", "a"}})).world_size, 4);
}

TEST(RankEnvironment, NamesTheVariableThatMakesNoSense) {
  try {
    rank_environment(from({{"RANK", "8"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}}));
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("RANK is '8'"), std::string::npos) << error.what();
  }
}

TEST(RankEnvironment, WantsAMasterForSeveralRanks) {
  EXPECT_THROW(rank_environment(from({{"RANK", "0"}, {"WORLD_SIZE", "2"}})), ConfigError);
}

}  // namespace
}  // namespace slipway
