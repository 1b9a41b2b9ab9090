#include "core/metrics/metrics_file.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr ExitCode kBlame = ExitCode::kUsage;

bool is_kept(const nlohmann::json& line, const MetricsFile::Resume& resume) {
  const auto step = line["step"].get<int64_t>();
  if (step > resume.last_step || line.contains("final")) return false;
  return step < resume.last_step || !resume.makes_up_for_evaluation || !line.contains("valid_loss");
}

// The lines to keep, each with its line end.
std::string kept_lines(const std::string& path, const std::string& text, const MetricsFile::Resume& resume) {
  std::string kept;
  size_t begin = 0;
  for (int64_t number = 1; begin < text.size(); ++number) {
    const size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;  // cut off by a kill
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("step") || !parsed["step"].is_number_integer()) {
      throw Error(kBlame, path + " line " + std::to_string(number) +
                              " is no line of metrics; move the file away, or repair it, before resuming");
    }
    if (is_kept(parsed, resume)) kept += line + "\n";
  }
  return kept;
}

}  // namespace

nlohmann::ordered_json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

MetricsFile::MetricsFile(const std::string& path, const Resume& resume) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    write_file_atomic(path, kept_lines(path, read_file(path, kBlame), resume), kBlame);
  }
  file_.reset(std::fopen(path.c_str(), "ae"));
  if (!file_) throw Error(kBlame, "cannot write " + path + ": " + std::strerror(errno));
}

void MetricsFile::append(const nlohmann::ordered_json& line) {
  const std::string text = line.dump() + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  if (!written || std::fflush(file_.get()) != 0) {
    throw Error(kBlame, "cannot write " + path_ + ": " + std::strerror(errno) + "; free space and resume");
  }
}

void MetricsFile::sync() {
  if (::fdatasync(::fileno(file_.get())) == 0 || errno == EINVAL) return;  // EINVAL: a pipe or such
  throw Error(kBlame, "cannot write " + path_ + " to its disk: " + std::strerror(errno) + "; free space and resume");
}

}  // namespace slipway
