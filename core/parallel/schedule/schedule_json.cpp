#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "core/config/json_text.h"
#include "core/parallel/schedule/schedule.h"

namespace slipway {
namespace {

using Json = nlohmann::json;
constexpr int32_t kLargest = 1 << 20;  // of any size in a file

class Reader {
 public:
  Reader(const Json& json, std::string name) : json_(json), name_(std::move(name)) {}

  Schedule read() {
    static const std::vector<std::string> kKeys{"pipeline_model_parallel_size", "virtual_pipeline_model_parallel_size",
                                                "num_microbatches", "ranks"};
    if (!json_.is_object()) refuse("the file", "is " + describe_json(json_) + ", wanted is an object");
    for (const auto& [key, value] : json_.items()) {
      if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
        refuse(in_quotes(key), "is no key of a schedule" + suggestion(key, kKeys));
      }
    }
    Schedule schedule;
    schedule.pp = number("pipeline_model_parallel_size");
    schedule.vpp =
        json_.contains("virtual_pipeline_model_parallel_size") ? number("virtual_pipeline_model_parallel_size") : 1;
    schedule.num_microbatches = number("num_microbatches");
    read_ranks(schedule);
    return schedule;
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
    throw ConfigError("pipeline schedule " + name_ + ": " + place + " " + why);
  }
  std::string shown(const std::string& key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return "missing";
    return found->is_array() ? "a list of " + std::to_string(found->size()) : describe_json(*found);
  }
  int32_t number(const std::string& key) const {
    const auto found = json_.find(key);
    const bool fits = found != json_.end() && found->is_number_integer() && *found >= 1 && *found <= kLargest;
    if (!fits) refuse(key, "is " + shown(key) + "; wanted is a whole number from 1 to " + std::to_string(kLargest));
    return found->get<int32_t>();
  }
  void read_ranks(Schedule& schedule) const {
    const auto ranks = json_.find("ranks");
    if (ranks == json_.end() || !ranks->is_array() || ranks->size() != static_cast<size_t>(schedule.pp)) {
      refuse("ranks", "is " + shown("ranks") + "; wanted is a list of passes for each of " +
                          std::to_string(schedule.pp) + " pipeline ranks");
    }
    for (size_t r = 0; r < ranks->size(); ++r) {
      const Json& list = (*ranks)[r];
      const std::string place = "ranks[" + std::to_string(r) + "]";
      if (!list.is_array()) refuse(place, "is " + describe_json(list) + "; wanted is a list of passes");
      std::vector<Pass>& passes = schedule.ranks.emplace_back();
      for (size_t i = 0; i < list.size(); ++i) {
        const std::string at = place + "[" + std::to_string(i) + "]";
        if (!list[i].is_string()) refuse(at, "is " + describe_json(list[i]) + "; wanted is a text such as \"F0\"");
        passes.push_back(pass_of(list[i].get<std::string>(), schedule.vpp, at));
      }
    }
  }
  Pass pass_of(const std::string& text, int32_t vpp, const std::string& at) const {
    const std::vector<std::string> parts = split(text, '.');
    const bool has_kind = text.starts_with('F') || text.starts_with('B');
    const auto microbatch = has_kind ? whole(parts[0].substr(1)) : -1;
    const auto chunk = parts.size() == 2 ? whole(parts[1]) : 0;
    if (microbatch < 0 || chunk < 0 || parts.size() > 2 || (parts.size() == 2) != (vpp > 1)) {
      refuse(at, "is " + describe_json(text) + "; wanted is F or B, the microbatch" +
                     (vpp > 1 ? ", a dot and the chunk: \"F0.1\"" : ": \"F0\""));
    }
    return {text[0] == 'F' ? PassKind::kForward : PassKind::kBackward, chunk, microbatch};
  }
  // -1: not a number.
  static int32_t whole(const std::string& text) {
    int32_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
  }

  const Json& json_;
  std::string name_;
};

}  // namespace

Schedule schedule_from_json(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, "pipeline schedule " + name);
  return Reader(json, name).read();
}

std::string schedule_to_json(const Schedule& schedule) {
  nlohmann::ordered_json json;
  json["pipeline_model_parallel_size"] = schedule.pp;
  json["virtual_pipeline_model_parallel_size"] = schedule.vpp;
  json["num_microbatches"] = schedule.num_microbatches;
  json["ranks"] = Json::array();
  for (const auto& passes : schedule.ranks) {
    std::vector<std::string> list;
    for (const Pass& pass : passes) list.push_back(to_string(pass, schedule.vpp));
    json["ranks"].push_back(list);
  }
  return json.dump();
}

}  // namespace slipway
