#include "core/comm/environment.h"

#include <array>
#include <charconv>
#include <cstdlib>

#include "core/base/error.h"

namespace slipway {
namespace {

struct Names {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  const char* local_world_size;
};

constexpr std::array<Names, 4> kLaunchers{{
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
}};

int number(const Lookup& lookup, const char* name, int fallback, int least, int most) {
  const std::optional<std::string> text = lookup(name);
  if (!text) return fallback;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || value < least || value > most) {
    throw ConfigError("environment variable " + std::string(name) + " is '" + *text + "'; it has to be a number from " +
                      std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

}  // namespace

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

RankEnvironment rank_environment(const Lookup& lookup) {
  constexpr int kMostRanks = 1 << 24;
  RankEnvironment environment;
  for (const Names& names : kLaunchers) {
    if (!lookup(names.rank) || !lookup(names.world_size)) continue;
    environment.world_size = number(lookup, names.world_size, 1, 1, kMostRanks);
    environment.rank = number(lookup, names.rank, 0, 0, environment.world_size - 1);
    environment.local_rank = number(lookup, names.local_rank, environment.rank, 0, kMostRanks);
    environment.local_world_size = number(lookup, names.local_world_size, environment.local_rank + 1, 1, kMostRanks);
    break;
  }
  environment.master_addr = lookup("MASTER_ADDR").value_or(environment.master_addr);
  environment.master_port = number(lookup, "MASTER_PORT", environment.master_port, 1, 65535);
  if (environment.world_size > 1 && !lookup("MASTER_ADDR")) {
    throw ConfigError(
        "this is rank " + std::to_string(environment.rank) + " of " + std::to_string(environment.world_size) +
        " but MASTER_ADDR is not set; set it to the host of rank 0, and MASTER_PORT to a free port there");
  }
  return environment;
}

}  // namespace slipway
