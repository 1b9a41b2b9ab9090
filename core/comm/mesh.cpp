#include "core/comm/mesh.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

// The axes of one grid in the order string's order; a token that is missing there has size 1 and comes last.
std::vector<Axis> ordered_axes(const std::string& order, const std::map<std::string, int>& sizes) {
  std::vector<Axis> axes;
  for (const std::string& token : split(order, '-')) {
    const auto size = sizes.find(token);
    if (size == sizes.end()) {
      throw ConfigError("parallel.order is '" + order + "': '" + token + "' is no axis; use tp, cp, ep, dp and pp");
    }
    const bool repeated = std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.token == token; });
    if (repeated) throw ConfigError("parallel.order is '" + order + "': '" + token + "' stands twice");
    axes.push_back({token, size->second});
  }
  for (const auto& [token, size] : sizes) {
    const bool present =
        std::any_of(axes.begin(), axes.end(), [&, t = token](const Axis& axis) { return axis.token == t; });
    if (present) continue;
    if (size != 1) {
      throw ConfigError("parallel.order is '" + order + "' without '" + token + "', whose size is " +
                        std::to_string(size) + "; add it, e.g. tp-cp-ep-dp-pp");
    }
    axes.push_back({token, 1});
  }
  return axes;
}

int divide_world(const MeshSizes& sizes, int product, const std::string& rule) {
  if (product <= 0 || sizes.world % product != 0) {
    const int by = std::max(product, 1), below = sizes.world / by * by;
    throw ConfigError("the number of ranks is " + std::to_string(sizes.world) + ", which is no multiple of " + rule +
                      " = " + std::to_string(product) +
                      "; nearest: " + (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + by));
  }
  return sizes.world / product;
}

}  // namespace

std::vector<RankList> grid_groups(const std::vector<Axis>& axes, const std::string& tokens) {
  const std::vector<std::string> chosen = split(tokens, '-');
  const auto is_chosen = [&](const Axis& axis) {
    return std::find(chosen.begin(), chosen.end(), axis.token) != chosen.end();
  };
  std::vector<int> members{0}, origins{0};  // offsets inside a group; the first rank of each group
  int stride = 1;
  for (const Axis& axis : axes) {
    std::vector<int>& offsets = is_chosen(axis) ? members : origins;
    const std::vector<int> before = offsets;
    for (int i = 1; i < axis.size; ++i) {
      for (const int offset : before) offsets.push_back(offset + i * stride);
    }
    stride *= axis.size;
  }
  std::vector<RankList> groups;
  groups.reserve(origins.size());
  for (const int origin : origins) {
    RankList& group = groups.emplace_back();
    group.reserve(members.size());
    for (const int member : members) group.push_back(origin + member);
  }
  return groups;
}

Mesh::Mesh(const MeshSizes& sizes) : sizes_(sizes) {
  for (const int size : {sizes.world, sizes.tp, sizes.pp, sizes.cp, sizes.ep, sizes.etp}) {
    if (size < 1) throw ConfigError("every parallel size has to be at least 1");
  }
  dp_ = divide_world(sizes, sizes.tp * sizes.pp * sizes.cp, "tensor x pipeline x context parallel");
  edp_ = divide_world(sizes, sizes.etp * sizes.ep * sizes.pp, "expert tensor x expert x pipeline parallel");
  add_dense_groups();
  add_expert_groups();
  add_embedding_groups();
  index_groups();
}

void Mesh::add_dense_groups() {
  const auto axes =
      ordered_axes(sizes_.order, {{"tp", sizes_.tp}, {"cp", sizes_.cp}, {"ep", 1}, {"dp", dp_}, {"pp", sizes_.pp}});
  const std::map<std::string, std::string> names{{"tp", "tp"},
                                                 {"pp", "pp"},
                                                 {"cp", "cp"},
                                                 {"dp", "dp"},
                                                 {"dp_cp", "dp-cp"},
                                                 {"tp_pp", "tp-pp"},
                                                 {"tp_cp", "tp-cp"},
                                                 {"tp_dp", "tp-dp"},
                                                 {"tp_dp_cp", "tp-dp-cp"},
                                                 {"world", "tp-cp-ep-dp-pp"}};
  for (const auto& [name, tokens] : names) groups_[name] = grid_groups(axes, tokens);
  groups_["dp_cp_intra"] = groups_["dp_cp"];
  for (int rank = 0; rank < sizes_.world; ++rank) groups_["dp_cp_inter"].push_back({rank});
}

void Mesh::add_expert_groups() {
  const auto axes =
      ordered_axes(sizes_.order, {{"tp", sizes_.etp}, {"cp", 1}, {"ep", sizes_.ep}, {"dp", edp_}, {"pp", sizes_.pp}});
  const std::map<std::string, std::string> names{
      {"etp", "tp"}, {"ep", "ep"}, {"edp", "dp"}, {"tp_ep", "tp-ep"}, {"tp_ep_pp", "tp-ep-pp"}};
  for (const auto& [name, tokens] : names) groups_[name] = grid_groups(axes, tokens);
  groups_["edp_intra"] = groups_["edp"];
  for (int rank = 0; rank < sizes_.world; ++rank) groups_["edp_inter"].push_back({rank});
  if (grid_groups(axes, "pp") != groups_["pp"]) {
    throw ConfigError("parallel.order is '" + sizes_.order +
                      "': the pipeline groups of dense and expert layers differ; end the order with pp");
  }
}

void Mesh::add_embedding_groups() {
  for (const RankList& pipeline : groups_["pp"]) {
    RankList ends{pipeline.front()};
    if (pipeline.size() > 1) ends.push_back(pipeline.back());
    groups_["embd"].push_back(std::move(ends));
    groups_["pos_embd"].push_back({pipeline.front()});
  }
}

// One pass proves that no rank stands in two groups of a kind, and in all but the embedding kinds each in one.
void Mesh::index_groups() {
  for (const auto& [name, groups] : groups_) {
    std::vector<Seat>& seats = seats_[name];
    seats.resize(static_cast<size_t>(sizes_.world));
    int seated = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
      for (size_t place = 0; place < groups[g].size(); ++place) {
        Seat& seat = seats[static_cast<size_t>(groups[g][place])];
        SLW_CHECK(seat.group < 0);
        seat = {static_cast<int>(g), static_cast<int>(place)};
        ++seated;
      }
    }
    SLW_CHECK(seated == sizes_.world || name == "embd" || name == "pos_embd");
  }
}

RankList Mesh::group_of(const std::string& name, int rank) const {
  const Seat& seat = seats_.at(name)[static_cast<size_t>(rank)];
  return seat.group < 0 ? RankList{} : groups(name)[static_cast<size_t>(seat.group)];
}

int Mesh::coordinate(const std::string& name, int rank) const {
  return seats_.at(name)[static_cast<size_t>(rank)].place;
}

}  // namespace slipway
