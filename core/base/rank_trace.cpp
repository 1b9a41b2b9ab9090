#include "core/base/rank_trace.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace slipway {
namespace {

using nlohmann::json;

json to_json(const AwaitedCall& call) {
  return {{"group", call.group}, {"ranks", call.ranks}, {"op", call.op},          {"number", call.number},
          {"bytes", call.bytes}, {"peer", call.peer},   {"seconds", call.seconds}};
}

AwaitedCall awaited_call_of(const json& object) {
  AwaitedCall call;
  object.at("group").get_to(call.group);
  object.at("ranks").get_to(call.ranks);
  object.at("op").get_to(call.op);
  object.at("number").get_to(call.number);
  object.at("bytes").get_to(call.bytes);
  object.at("peer").get_to(call.peer);
  object.at("seconds").get_to(call.seconds);
  return call;
}

GroupProgress group_progress_of(const json& object) {
  GroupProgress group;
  object.at("name").get_to(group.name);
  object.at("ranks").get_to(group.ranks);
  object.at("last").get_to(group.last);
  return group;
}

}  // namespace

json to_json(const RankTrace& trace) {
  json groups = json::array();
  for (const GroupProgress& group : trace.groups) {
    groups.push_back({{"name", group.name}, {"ranks", group.ranks}, {"last", group.last}});
  }
  json object{{"step", trace.step}, {"phase", trace.phase}, {"groups", std::move(groups)}};
  if (trace.waits_in) object["waits_in"] = to_json(*trace.waits_in);
  return object;
}

std::optional<RankTrace> rank_trace_of(const json& object) {
  try {
    RankTrace trace;
    object.at("step").get_to(trace.step);
    object.at("phase").get_to(trace.phase);
    for (const json& group : object.at("groups")) trace.groups.push_back(group_progress_of(group));
    if (object.contains("waits_in")) trace.waits_in = awaited_call_of(object["waits_in"]);
    return trace;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string call_text(const AwaitedCall& call) {
  const std::string with = call.peer < 0 ? "" : " with rank " + std::to_string(call.peer);
  return call.op + " #" + std::to_string(call.number) + with + " of group " + call.group + " (ranks " +
         ranks_text(call.ranks) + "; " + std::to_string(call.bytes) + " bytes)";
}

std::string since_text(double seconds) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "since %.1f s", seconds);
  return text.data();
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    if (end - i > 1) text += "-" + std::to_string(ranks[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace slipway
