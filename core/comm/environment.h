// Who this process is among the run's processes, as its launcher says in the environment. A value; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace slipway {

struct RankEnvironment {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;        // on this node
  int local_world_size = 1;  // on this node
  std::string master_addr = "127.0.0.1";
  int master_port = 29500;
};

// Looks a variable up; nullopt when it is not set.
using Lookup = std::function<std::optional<std::string>(const char*)>;
std::optional<std::string> environment_variable(const char* name);

// RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT as torchrun sets them, else those of Slurm, Open
// MPI, MPICH/PMI; a single rank when there are none. Throws ConfigError naming the variable that makes no sense.
RankEnvironment rank_environment(const Lookup& lookup = environment_variable);

}  // namespace slipway
