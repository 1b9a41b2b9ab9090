#include "core/checkpoint/json_text.h"

#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 16;

// Watches the parser's events for repeated keys and depth.
class Watch {
 public:
  explicit Watch(const std::string& where) : where_(where) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw CheckpointError(where_ + ": JSON is nested deeper than " + std::to_string(kMaxDepth));
    if (event == json::parse_event_t::object_start) keys_.emplace_back();
    if (event == json::parse_event_t::object_end) keys_.pop_back();
    if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) throw CheckpointError(where_ + ": " + in_quotes(key) + " appears twice");
    }
    return true;
  }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_json_object(std::string_view text, const std::string& where) {
  Watch watch(where);
  try {
    json document = json::parse(text.begin(), text.end(), std::ref(watch));
    if (!document.is_object()) throw CheckpointError(where + ": is not a JSON object");
    return document;
  } catch (const json::exception& error) {
    throw CheckpointError(where + ": is not JSON: " + error.what());
  }
}

const json& json_member(const json& object, const char* key, const std::string& where) {
  if (!object.is_object()) throw CheckpointError(where + ": is not a JSON object");
  const auto found = object.find(key);
  if (found == object.end()) throw CheckpointError(where + ": has no " + in_quotes(key));
  return *found;
}

std::string json_string(const json& value, const std::string& where) {
  if (!value.is_string()) throw CheckpointError(where + ": is not a text");
  return value.get<std::string>();
}

std::int64_t json_count(const json& value, const std::string& where) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMax) {
    throw CheckpointError(where + ": is not a whole number of 0 to 2^63 - 1");
  }
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> json_counts(const json& value, const std::string& where) {
  if (!value.is_array()) throw CheckpointError(where + ": is not a list of numbers");
  std::vector<std::int64_t> counts;
  for (const json& item : value) counts.push_back(json_count(item, where));
  return counts;
}

std::string json_dump(const nlohmann::ordered_json& document, const std::string& where) {
  try {
    return document.dump();
  } catch (const json::exception& error) {
    throw CheckpointError(where + ": cannot be written as JSON: " + error.what());
  }
}

}  // namespace slipway
