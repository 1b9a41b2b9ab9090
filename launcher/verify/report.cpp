#include "launcher/verify/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

using nlohmann::ordered_json;
using Words = std::vector<std::string>;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1e", value);
  return text.data();
}

size_t name_width(const std::vector<Layout>& layouts) {
  size_t width = 10;
  for (const Layout& layout : layouts) width = std::max(width, layout.name.size());
  return width;
}

// The name to the left, then numbers to the right, then the verdict.
std::string line_of(const std::vector<Layout>& layouts, const Words& cells) {
  constexpr std::array<size_t, 5> kWidths{0, 8, 15, 20, 17};
  std::string line = cells[0] + std::string(name_width(layouts) - cells[0].size(), ' ');
  for (size_t i = 1; i < kWidths.size(); ++i) line += std::string(kWidths[i] - cells[i].size(), ' ') + cells[i];
  return line + "   " + cells.back() + "\n";
}

const char* word_of(const Outcome& outcome) {
  if (outcome.is_stopped) return "stopped";
  return is_refusal(outcome) ? "refused" : "failed";
}

Words cells_of(const Verdict& verdict) {
  Words cells{verdict.layout.name, std::to_string(verdict.layout.world_size())};
  if (!verdict.comparison) {
    cells.insert(cells.end(), {"-", "-", "-", word_of(verdict.outcome)});
    return cells;
  }
  const Comparison& c = *verdict.comparison;
  cells.insert(cells.end(), {number(c.loss), number(c.grad_norm), number(c.weight), c.passed() ? "ok" : "DIFFERS"});
  return cells;
}

}  // namespace

bool is_refusal(const Outcome& outcome) { return outcome.exit_code == static_cast<int>(ExitCode::kUsage); }

std::string table_head(const std::vector<Layout>& layouts) {
  return line_of(layouts, {"layout", "ranks", "max |d loss|", "max |d grad norm|", "max |d weight|", "verdict"}) +
         line_of(layouts, {Layout{}.name, "1", "", "", "", "reference"});
}

std::string table_row(const std::vector<Layout>& layouts, const Verdict& verdict) {
  std::string text = line_of(layouts, cells_of(verdict));
  const Words reasons = verdict.comparison ? verdict.comparison->failures : split(trim(verdict.outcome.message), '\n');
  for (const std::string& line : reasons) text += "    " + line + "\n";
  return text;
}

std::string verdicts_json(int64_t steps, const std::vector<Verdict>& verdicts) {
  ordered_json list = ordered_json::array();
  for (const Verdict& v : verdicts) {
    ordered_json entry{{"layout", v.layout.name}, {"ranks", v.layout.world_size()}, {"passed", v.passed()}};
    if (v.comparison) {
      entry["max_loss_difference"] = v.comparison->loss;
      entry["max_grad_norm_difference"] = v.comparison->grad_norm;
      entry["max_weight_difference"] = v.comparison->weight;
      entry["initial_weights_equal"] = v.comparison->equal_start;
      entry["failures"] = v.comparison->failures;
    } else {
      entry["exit_code"] = v.outcome.exit_code;
      entry["message"] = v.outcome.message;
    }
    list.push_back(std::move(entry));
  }
  // What a run says may be any bytes.
  return ordered_json{{"steps", steps}, {"layouts", list}}.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace slipway
