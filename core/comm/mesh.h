// The grid of ranks: which ranks form each group. A value made in step 1 and handed on; any thread.
//
// Order string: tokens joined by '-', the leftmost varies fastest. Two grids share the pipeline axis: dense tp x cp x
// dp x pp, and expert etp x ep x edp x pp (Megatron-core's RankGenerator).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace slipway {

struct MeshSizes {
  int world = 1;
  int tp = 1, pp = 1, cp = 1;
  int ep = 1, etp = 1;
  std::string order = "tp-cp-ep-dp-pp";
};

using RankList = std::vector<int>;

class Mesh {
 public:
  // Throws ConfigError with the rule and the numbers when the sizes do not fit the world.
  explicit Mesh(const MeshSizes& sizes);

  const MeshSizes& sizes() const { return sizes_; }
  int dp() const { return dp_; }    // without cp
  int edp() const { return edp_; }  // data parallel size of experts

  // Every group named `name` (slipway/services.h lists the names), in Megatron's order. Throws std::out_of_range.
  const std::vector<RankList>& groups(const std::string& name) const { return groups_.at(name); }
  const std::map<std::string, std::vector<RankList>>& all_groups() const { return groups_; }
  // The group of `name` that holds `rank`; empty when none does (embd, pos_embd). Constant time, as the next.
  RankList group_of(const std::string& name, int rank) const;
  // Place of `rank` in its group of `name`; 0 when none holds it.
  int coordinate(const std::string& name, int rank) const;

 private:
  void add_dense_groups();
  void add_expert_groups();
  void add_embedding_groups();
  void index_groups();

  MeshSizes sizes_;
  int dp_ = 1, edp_ = 1;
  std::map<std::string, std::vector<RankList>> groups_;
  struct Seat {
    int group = -1, place = 0;
  };
  std::map<std::string, std::vector<Seat>> seats_;  // by rank
};

// One axis of a grid.
struct Axis {
  std::string token;
  int size;
};

// Groups over the axes named in `tokens` ("tp-pp"): members vary over those axes, group numbers over the others, the
// leftmost axis fastest in both.
std::vector<RankList> grid_groups(const std::vector<Axis>& axes, const std::string& tokens);

}  // namespace slipway
