// From a command line to running processes: the ranks of `train`, or the one process of a command that needs plugins.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launcher/outcome.h"
#include "launcher/spawn.h"
#include "launcher/supervise.h"

namespace slipway {

struct Worker {
  std::string path;  // of slipway-worker
  SuperviseTiming timing;
};

// What `slipway train` was asked for: how many ranks, and the words that are the worker's.
struct TrainRequest {
  int num_ranks = 1;
  std::vector<std::string> arguments;
};

// Throws ConfigError when --nproc-per-node is no count of ranks.
TrainRequest parse_train_request(const std::vector<std::string>& arguments);

// Whether RANK and WORLD_SIZE are set: this process is one rank of a run that someone else launched.
// Throws ConfigError when only one of them is.
bool is_launched_rank(const TrainRequest& request);

// The environment that tells rank `rank` of `num_ranks` on this machine who it is.
std::map<std::string, std::string> rank_environment_of(int rank, int num_ranks, int port);

// Runs the ranks to their end. Rank 0 writes to our stdout and stderr itself; with `lines` what all ranks print goes
// there.
Outcome launch_ranks(const Worker& worker, const TrainRequest& request, const LineSink& lines = {});

// Runs `slipway-worker <command> <arguments>` to its end, with our stdin, stdout and stderr.
Outcome launch_command(const Worker& worker, const std::string& command, const std::vector<std::string>& arguments);

}  // namespace slipway
