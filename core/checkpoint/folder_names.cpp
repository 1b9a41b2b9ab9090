#include "core/checkpoint/folder_names.h"

#include <charconv>
#include <cstdio>

namespace slipway {

std::string step_name(std::int64_t step) {
  char name[40];
  std::snprintf(name, sizeof name, "step_%08lld", static_cast<long long>(step));
  return name;
}

std::optional<std::int64_t> step_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "step_";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || step < 0 || step_name(step) != name) return std::nullopt;
  return step;
}

}  // namespace slipway
