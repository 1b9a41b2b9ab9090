#include "core/config/json_text.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kShownCharacters = 60;

// Follows the parser and refuses what it would silently merge.
class StructureCheck {
 public:
  explicit StructureCheck(const std::string& source) : source_(source) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) {
      throw ConfigError(source_ + ": nested deeper than " + std::to_string(kMaxDepth) + " levels");
    }
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key) add_key(parsed.get<std::string>());
    return true;
  }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string latest;
  };

  void add_key(const std::string& key) {
    open_.back().latest = key;
    if (open_.back().keys.insert(key).second) return;
    std::vector<std::string> path;
    for (const Object& object : open_) path.push_back(object.latest);
    throw ConfigError(source_ + ": the key " + in_quotes(join(path, ".")) + " is given twice; keep one of them");
  }

  const std::string& source_;
  std::vector<Object> open_;
};

std::string syntax_message(std::string_view text, const json::parse_error& error, const std::string& source) {
  const std::size_t end = std::min<std::size_t>(error.byte > 0 ? error.byte - 1 : 0, text.size());
  const std::string_view before = text.substr(0, end);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::string reason = error.what();
  const std::size_t colon = reason.find(": ");
  if (colon != std::string::npos) reason = reason.substr(colon + 2);
  return source + ":" + std::to_string(line) + ":" + std::to_string(end - line_begin + 1) +
         ": not valid JSON: " + reason;
}

const char* kind_of(const json& value) {
  if (value.is_number_integer()) return "an integer";
  if (value.is_number()) return "a number";
  if (value.is_boolean()) return "a boolean";
  if (value.is_string()) return "a string";
  if (value.is_array()) return "a list";
  return value.is_object() ? "an object" : "";
}

}  // namespace

json parse_json(std::string_view text, const std::string& source) {
  try {
    return json::parse(text.begin(), text.end(), StructureCheck(source), true, true);
  } catch (const json::parse_error& error) {
    throw ConfigError(syntax_message(text, error, source));
  } catch (const json::exception& error) {
    throw ConfigError(source + ": not valid JSON: " + error.what());
  }
}

std::string describe_json(const json& value) {
  std::string shown = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (shown.size() > kShownCharacters) shown = shown.substr(0, kShownCharacters) + "...";
  const std::string kind = kind_of(value);
  return kind.empty() ? shown : shown + " (" + kind + ")";
}

}  // namespace slipway
