// What a rank was doing, for the report of a failure: where training was and what it called on its groups. A value; it
// crosses from a rank to the launcher as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace slipway {

// A call on a group that a rank waits for.
struct AwaitedCall {
  std::string group;
  std::vector<int> ranks;  // of the group, global
  std::string op;
  int64_t number = 0;  // among the group's collectives, from 0; sends and receives are counted apart
  int64_t bytes = 0;   // that this rank handed in
  int peer = -1;       // global rank that a send goes to or a receive comes from; -1: a collective
  double seconds = 0;  // waited so far, or until it failed

  bool operator==(const AwaitedCall&) const = default;
};

// How far a rank is on one group.
struct GroupProgress {
  std::string name;
  std::vector<int> ranks;
  int64_t last = -1;  // number of the last collective it started; -1: none

  bool operator==(const GroupProgress&) const = default;
};

struct RankTrace {
  int64_t step = 0;   // from 1; 0: not in a step
  std::string phase;  // "step 7 backward", "initialize"
  std::vector<GroupProgress> groups;
  std::optional<AwaitedCall> waits_in;

  bool operator==(const RankTrace&) const = default;
};

nlohmann::json to_json(const RankTrace& trace);
// nullopt when `object` is no trace.
std::optional<RankTrace> rank_trace_of(const nlohmann::json& object);

// "all_reduce #31 of group dp (ranks 0, 1; 4096 bytes)"
std::string call_text(const AwaitedCall& call);
// "since 0.1 s"
std::string since_text(double seconds);
// "0, 1, 4-7"
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace slipway
