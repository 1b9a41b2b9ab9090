// When each pass of a schedule would run, with given times: how long the pipeline stands still, and a picture of it.
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "core/parallel/schedule/schedule.h"

namespace slipway {

// Of one microbatch through one virtual stage, in any unit of time.
struct StageTimes {
  std::vector<double> forward, backward;  // by virtual stage
  double transfer = 0;                    // of an activation or a gradient to another rank; overlaps with computing
};

struct Timeline {
  struct Entry {
    Pass pass;
    double start, end;
  };
  std::vector<std::vector<Entry>> ranks;
  double total = 0;
  // Time that the busiest rank stands still, as a part of the time that it computes: (pp - 1) / (m v) for 1F1B with
  // equal stages and free transfers.
  double bubble = 0;
};

// REQUIRES: validate(schedule) passes.
Timeline simulate(const Schedule& schedule, const StageTimes& times);

// One line per rank, a column per `unit` of time: digits are microbatches (last digit), forwards plain and backwards
// behind a mark; dots are waiting.
std::string gantt(const Timeline& timeline, double unit);

}  // namespace slipway
