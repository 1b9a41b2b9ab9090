#include "core/base/strings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace slipway {
namespace {

constexpr std::size_t kMaxListedNames = 40;

char folded(char c) {
  if (c == '-') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string scaled(double value, double factor, const char* const* units, std::size_t num_units) {
  std::size_t unit = 0;
  while (value >= factor && unit + 1 < num_units) {
    value /= factor;
    ++unit;
  }
  std::array<char, 64> text{};
  const int digits = unit == 0 ? 0 : (factor == 1024.0 ? 1 : 2);
  std::snprintf(text.data(), text.size(), "%.*f%s%s", digits, value, units[unit][0] ? " " : "", units[unit]);
  return text.data();
}

}  // namespace

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(separator, begin)) != std::string_view::npos; begin = end + 1) {
    parts.emplace_back(text.substr(begin, end - begin));
  }
  parts.emplace_back(text.substr(begin));
  return parts;
}

std::string trim(std::string_view text) {
  const char* blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

std::string replace_char(std::string_view text, char from, char to) {
  std::string result(text);
  std::replace(result.begin(), result.end(), from, to);
  return result;
}

std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
      result += escape.data();
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> older(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    older.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped =
          i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  const std::size_t limit = std::max<std::size_t>(1, std::min<std::size_t>(4, name.size() / 3));
  std::size_t best = limit + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > name.size() + limit || name.size() > candidate.size() + limit) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(name, candidates);
  if (!nearest.empty()) return "; did you mean " + in_quotes(nearest) + "?";
  if (candidates.empty()) return "; none is allowed here";
  std::vector<std::string> listed = candidates;
  listed.resize(std::min(listed.size(), kMaxListedNames));
  const std::size_t more = candidates.size() - listed.size();
  return "; allowed: " + join(listed, ", ") + (more > 0 ? ", and " + std::to_string(more) + " more" : "");
}

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(static_cast<double>(bytes), 1024.0, kUnits.data(), kUnits.size());
}

std::string human_count(std::uint64_t count) {
  static constexpr std::array<const char*, 6> kUnits = {"", "K", "M", "B", "T", "Q"};
  return scaled(static_cast<double>(count), 1000.0, kUnits.data(), kUnits.size());
}

std::string human_duration(double seconds) {
  std::array<char, 64> text{};
  if (!(seconds >= 0.0) || seconds > 1e15) return "unknown";
  if (seconds < 1.0) {
    std::snprintf(text.data(), text.size(), "%.0f ms", seconds * 1e3);
  } else if (seconds < 60.0) {
    std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  } else {
    const auto whole = static_cast<long long>(std::llround(seconds));
    const long long days = whole / 86400, hours = whole / 3600 % 24, minutes = whole / 60 % 60, rest = whole % 60;
    if (days > 0)
      std::snprintf(text.data(), text.size(), "%lld d %02lld h", days, hours);
    else if (hours > 0)
      std::snprintf(text.data(), text.size(), "%lld h %02lld m", hours, minutes);
    else
      std::snprintf(text.data(), text.size(), "%lld m %02lld s", minutes, rest);
  }
  return text.data();
}

}  // namespace slipway
