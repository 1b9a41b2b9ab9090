// How the processes of a run ended, and what is told of it. Pure functions over values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/rank_trace.h"

namespace slipway {

// What a rank said of its failure through the report pipe.
struct RankReport {
  std::string message;
  std::string step;
  int exit_code = 0;
};

struct RankEnd {
  std::string name;                  // "rank 1"
  std::optional<RankReport> report;  // when it said why it fails
  std::optional<RankTrace> trace;    // what it was doing then, or when it was asked to end
  std::string crumb;                 // the plugin call it was in when last heard of, or ""
  int exit_code = 0;                 // when it ended by itself
  int signal = 0;                    // else what killed it
  bool killed_by_us = false;         // that signal was the launcher's
  int order = 0;                     // of failing, from 1; 0: has not failed
};

struct Outcome {
  int exit_code = 0;
  std::string message;      // "" when nothing is to be told
  bool is_stopped = false;  // a signal asked for the end
};

// Takes one line of a rank's report pipe; true when it tells of a failure. Lines that are no reports are ignored, and
// so is a stop by a signal, which is no failure.
bool take_report_line(const std::string& line, RankEnd& end);

// Ends that are no failure, and not in the middle of a plugin's call: done, or all ranks end alike by design (stopped
// by a signal after saving, and 16 and 17).
bool is_orderly(const RankEnd& end);

// The cause of a failed run is told, not its consequences: ranks whose peers died, or which the launcher stopped. What
// those were waiting for comes in lines below it. `ends` are by rank.
Outcome outcome_of(const std::vector<RankEnd>& ends);

}  // namespace slipway
