#include "launcher/verify/step_numbers.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

double number(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : std::nan("");
}

}  // namespace

std::vector<StepNumbers> read_steps(const std::filesystem::path& run) {
  const std::string path = (run / "metrics.jsonl").string();
  std::vector<StepNumbers> steps;
  for (const std::string& text : split(trim(read_file(path, ExitCode::kData)), '\n')) {
    const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    const bool has_step = line.is_object() && line.contains("step") && line["step"].is_number_integer();
    if (!has_step) throw DataError(path + " has a line that is no step: " + in_quotes(text));
    if (!line.contains("loss")) continue;
    steps.push_back({line["step"].get<int64_t>(), number(line, "loss"), number(line, "grad_norm"), number(line, "lr")});
  }
  return steps;
}

}  // namespace slipway
