#include "launcher/verify/verify_parallelism.h"

#include <algorithm>
#include <iostream>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/strings.h"
#include "launcher/signals.h"
#include "launcher/verify/report.h"
#include "launcher/verify/request.h"
#include "launcher/verify/runs_folder.h"

namespace slipway {
namespace {

// The end of what the ranks of a failed run printed.
std::string told_by_ranks(const std::vector<std::string>& lines) {
  constexpr size_t kShown = 40;
  if (lines.empty()) return "";
  const auto shown = static_cast<std::ptrdiff_t>(std::min(kShown, lines.size()));
  return "\nthe last lines of its ranks:\n" + join(std::vector<std::string>(lines.end() - shown, lines.end()), "\n");
}

class Verification {
 public:
  Verification(const Worker& worker, const VerifyRequest& request)
      : worker_(worker), request_(request), folder_(request.output_dir) {}

  Outcome run() {
    const Layout reference;
    Outcome first = run_layout(reference);
    if (first.exit_code != 0) {
      first.message = "the reference run on 1 rank: " + first.message;
      return first;
    }
    show(table_head(request_.layouts));
    for (const Layout& layout : request_.layouts) {
      verdicts_.push_back(judge(layout));
      show(table_row(request_.layouts, verdicts_.back()));
      folder_.drop(layout);
      if (verdicts_.back().outcome.is_stopped) break;
    }
    if (request_.as_json) std::cout << verdicts_json(request_.steps, verdicts_) << "\n" << std::flush;
    return outcome();
  }

 private:
  void show(const std::string& text) const {
    if (!request_.as_json) std::cout << text << std::flush;
  }

  // What the ranks print is told only of a run that broke.
  Outcome run_layout(const Layout& layout) {
    const int ranks = layout.world_size();
    log_.show("training " + layout.name + (ranks > 1 ? " on " + std::to_string(ranks) + " ranks" : ""));
    const TrainRequest train{ranks, run_arguments(request_, layout, folder_.of(layout).string())};
    std::vector<std::string> said;
    Outcome outcome = launch_ranks(worker_, train, [&](const std::string& line) { said.push_back(line); });
    log_.show("");
    if (outcome.exit_code != 0 && outcome.message.empty()) {
      outcome.message = outcome.is_stopped ? "stopped by a signal" : "exit code " + std::to_string(outcome.exit_code);
    }
    const bool is_broken = outcome.exit_code != 0 && !is_refusal(outcome) && !outcome.is_stopped;
    if (is_broken) outcome.message += told_by_ranks(said);
    return outcome;
  }

  Verdict judge(const Layout& layout) {
    Verdict verdict{layout, std::nullopt, run_layout(layout)};
    if (verdict.outcome.exit_code != 0) return verdict;
    verdict.comparison = compare_runs(folder_.of(Layout{}), folder_.of(layout), request_.steps);
    return verdict;
  }

  // A run that failed counts more than numbers that differ; what there is to say has been shown.
  Outcome outcome() const {
    for (const Verdict& v : verdicts_) {
      if (!v.comparison && !is_refusal(v.outcome)) return {v.outcome.exit_code, ""};
    }
    const bool all = std::all_of(verdicts_.begin(), verdicts_.end(), [](const Verdict& v) { return v.passed(); });
    return {all ? 0 : static_cast<int>(ExitCode::kVerificationFailed), ""};
  }

  const HeldSignals held_;  // until the folder is gone
  const Worker& worker_;
  const VerifyRequest& request_;
  RunsFolder folder_;
  Log log_{LogLevel::kInfo};
  std::vector<Verdict> verdicts_;
};

}  // namespace

Outcome verify_parallelism(const Worker& worker, const std::vector<std::string>& arguments) {
  const VerifyRequest request = parse_verify_request(arguments);
  return Verification(worker, request).run();
}

}  // namespace slipway
