#include "launcher/outcome.h"

#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "launcher/signals.h"
#include "launcher/waits.h"

namespace slipway {
namespace {

using nlohmann::json;

constexpr int kRankDied = static_cast<int>(ExitCode::kRankDied);
constexpr int kStopped = static_cast<int>(ExitCode::kStoppedBySignal);

bool has_failed(const RankEnd& end) { return end.order > 0 && (end.report || (!end.killed_by_us && !is_orderly(end))); }

// A rank that lost its peers is a victim, whoever was heard first.
bool is_victim(const RankEnd& end) {
  if (end.report) return end.report->exit_code == kRankDied;
  return end.signal == 0 && end.exit_code == kRankDied;
}

const RankEnd* cause_of(const std::vector<RankEnd>& ends) {
  const RankEnd* cause = nullptr;
  for (const RankEnd& end : ends) {
    if (!has_failed(end)) continue;
    const bool earlier = !cause || std::pair(is_victim(end), end.order) < std::pair(is_victim(*cause), cause->order);
    if (earlier) cause = &end;
  }
  if (cause == nullptr || !is_victim(*cause)) return cause;
  const RankEnd* unresponsive = unresponsive_rank(ends);
  return unresponsive != nullptr ? unresponsive : cause;
}

bool all_say_the_same(const std::vector<RankEnd>& ends) {
  return std::all_of(ends.begin(), ends.end(), [&](const RankEnd& end) {
    return end.report && ends[0].report && end.report->message == ends[0].report->message;
  });
}

std::string reported_text(const RankEnd& cause, const std::vector<RankEnd>& ends) {
  const RankReport& report = *cause.report;
  const bool is_everyones = all_say_the_same(ends);
  // A refused command line or manifest speaks for itself, and so does a command that has no steps.
  const bool speaks_for_itself = report.step.empty() || report.exit_code == static_cast<int>(ExitCode::kUsage);
  if (is_everyones && speaks_for_itself) return report.message;
  const std::string who = is_everyones ? "" : cause.name + " ";
  return who + "failed" + (report.step.empty() ? "" : " in " + report.step) + ": " + report.message;
}

// " during step 7", " during get of dataset x (file) in step 7"; "" when nothing is known.
std::string during_text(const RankEnd& cause, const std::vector<RankEnd>& ends) {
  const int64_t number = step_of(cause, ends);
  const std::string step = number > 0 ? "step " + std::to_string(number) : "";
  if (cause.crumb.empty()) return step.empty() ? "" : " during " + step;
  return " during " + cause.crumb + (step.empty() ? "" : " in " + step) +
         "; a plugin that ends the process has to be mended or left out";
}

// It was told to end and did not.
std::string unresponsive_text(const RankEnd& cause, const std::vector<RankEnd>& ends) {
  const std::string text = cause.name + " never arrived: it ";
  if (cause.trace) return text + "was in " + cause.trace->phase + ", did not end when asked to and was killed";
  return text + "did not answer (stopped or hanging) and was killed" + during_text(cause, ends);
}

std::string killed_text(const RankEnd& cause, const std::vector<RankEnd>& ends) {
  if (cause.killed_by_us) return unresponsive_text(cause, ends);
  std::string text = cause.name + " was killed by " + signal_text(cause.signal) + during_text(cause, ends);
  if (cause.crumb.empty() && cause.signal == SIGKILL)
    text += "; the machine may have run out of memory, the kernel's log tells";
  return text;
}

// A rank that said why but had to be killed ends with the code that it announced.
int exit_code_of(const RankEnd& cause) {
  const bool has_code = cause.signal == 0 && cause.exit_code != 0;
  if (cause.report) return has_code ? cause.exit_code : cause.report->exit_code;
  if (!cause.crumb.empty()) return static_cast<int>(ExitCode::kPlugin);
  return has_code ? cause.exit_code : static_cast<int>(ExitCode::kRankDied);
}

std::string text_of(const RankEnd& cause, const std::vector<RankEnd>& ends) {
  if (cause.report) return reported_text(cause, ends);
  if (cause.signal != 0) return killed_text(cause, ends);
  const std::string text = cause.name + " ended with exit code " + std::to_string(cause.exit_code);
  return text + during_text(cause, ends) + (cause.crumb.empty() ? " and said nothing" : "");
}

}  // namespace

bool take_report_line(const std::string& line, RankEnd& end) {
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) return false;
  const auto text = [&](const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (object.contains("crumb")) end.crumb = text("crumb");
  if (object.contains("trace") && !end.report) end.trace = rank_trace_of(object["trace"]);
  if (!object.contains("error") || end.report) return false;
  const auto code = object.find("exit_code");
  const int exit_code = code != object.end() && code->is_number_integer() ? code->get<int>() : kRankDied;
  if (exit_code == kStopped) return false;
  end.report = RankReport{text("error"), text("step"), exit_code};
  return true;
}

bool is_orderly(const RankEnd& end) {
  if (end.signal != 0 || end.report || !end.crumb.empty()) return false;
  return end.exit_code == 0 || end.exit_code == kStopped || end.exit_code == 16 || end.exit_code == 17;
}

Outcome outcome_of(const std::vector<RankEnd>& ends) {
  if (const RankEnd* cause = cause_of(ends)) {
    // The real cause waits for nobody; a victim that stands in for it does.
    return {exit_code_of(*cause), text_of(*cause, ends) + waits_text(ends, is_victim(*cause) ? nullptr : cause)};
  }
  for (const RankEnd& end : ends) {
    if (end.signal == 0 && end.exit_code != 0) return {end.exit_code, "", end.exit_code == kStopped};
  }
  for (const RankEnd& end : ends) {
    if (end.signal == 0) continue;
    return {kRankDied, "stopped by " + signal_text(end.signal) + " before the end", true};
  }
  return {};
}

}  // namespace slipway
