#include "core/comm/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "tests/support/golden_values.h"

namespace slipway {
namespace {

using Json = nlohmann::json;

Json golden_cases() { return golden::read_json(golden::folder() / "parallel/rank_groups.json").at("cases"); }

MeshSizes sizes_of(const Json& c) {
  return {c.at("world"), c.at("tp"), c.at("pp"), c.at("cp"), c.at("ep"), c.at("etp"), c.at("order")};
}

std::string ours(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

TEST(Mesh, EqualsMegatronsRankGroups) {
  const std::map<std::string, std::string> expert{
      {"tp", "etp"}, {"ep", "ep"}, {"dp", "edp"}, {"tp-ep", "tp_ep"}, {"tp-ep-pp", "tp_ep_pp"}};
  for (const Json& c : golden_cases()) {
    const Mesh mesh(sizes_of(c));
    EXPECT_EQ(mesh.dp(), c.at("dp"));
    EXPECT_EQ(mesh.edp(), c.at("edp"));
    for (const auto& [name, groups] : c.at("dense").items()) {
      EXPECT_EQ(Json(mesh.groups(ours(name))), groups) << name << " of " << c.at("order");
    }
    for (const auto& [name, groups] : c.at("expert").items()) {
      EXPECT_EQ(Json(mesh.groups(expert.at(name))), groups) << "expert " << name << " of " << c.at("order");
    }
    EXPECT_EQ(Json(mesh.groups("embd")), c.at("embedding"));
    EXPECT_EQ(Json(mesh.groups("pos_embd")), c.at("position_embedding"));
  }
}

TEST(Mesh, EveryKindOfGroupPartitionsALargeWorld) {
  MeshSizes sizes;
  sizes.world = 16384;
  sizes.tp = 8, sizes.pp = 16, sizes.cp = 2, sizes.ep = 8, sizes.etp = 1;
  const Mesh mesh(sizes);
  for (const auto& [name, groups] : mesh.all_groups()) {
    if (name == "embd" || name == "pos_embd") continue;
    std::set<int> seen;
    for (const RankList& group : groups) seen.insert(group.begin(), group.end());
    EXPECT_EQ(seen.size(), 16384u) << name;
    const size_t members = std::accumulate(groups.begin(), groups.end(), size_t{0},
                                           [](size_t n, const RankList& group) { return n + group.size(); });
    EXPECT_EQ(members, 16384u) << name;
  }
}

TEST(Mesh, RefusesAWorldThatDoesNotDivide) {
  MeshSizes sizes;
  sizes.world = 10;
  sizes.tp = 4;
  try {
    const Mesh mesh(sizes);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("nearest: 8 or 12"), std::string::npos) << error.what();
  }
}

TEST(Mesh, RefusesAnOrderWithAnUnknownAxis) {
  MeshSizes sizes;
  sizes.order = "tp-xp-dp-pp";
  EXPECT_THROW(Mesh{sizes}, ConfigError);
}

}  // namespace
}  // namespace slipway
