#include "launcher/launch.h"

#include <charconv>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/strings.h"
#include "launcher/ports.h"

namespace slipway {
namespace {

constexpr int kMaxRanks = 1024;
constexpr const char* kRanksFlag = "__nproc_per_node";  // with '_' for '-'

int parse_num_ranks(const std::string& text) {
  int num_ranks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), num_ranks);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (is_number && num_ranks >= 1 && num_ranks <= kMaxRanks) return num_ranks;
  throw ConfigError("command line: --nproc-per-node is " + in_quotes(text) + "; allowed: 1 to " +
                    std::to_string(kMaxRanks));
}

std::vector<std::string> command_of(const Worker& worker, const std::string& command,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {worker.path, command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace

TrainRequest parse_train_request(const std::vector<std::string>& arguments) {
  TrainRequest request;
  bool is_given = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    if (replace_char(arguments[i].substr(0, equals), '-', '_') != kRanksFlag) {
      request.arguments.push_back(arguments[i]);
      continue;
    }
    if (is_given) throw ConfigError("command line: --nproc-per-node is given twice; give it once");
    is_given = true;
    if (equals == std::string::npos && i + 1 == arguments.size()) {
      throw ConfigError("command line: --nproc-per-node needs a value: the number of ranks on this machine");
    }
    request.num_ranks = parse_num_ranks(equals == std::string::npos ? arguments[++i] : arguments[i].substr(equals + 1));
  }
  return request;
}

bool is_launched_rank(const TrainRequest& request) {
  const bool has_rank = std::getenv("RANK") != nullptr;
  const bool has_world_size = std::getenv("WORLD_SIZE") != nullptr;
  if (has_rank != has_world_size) {
    throw ConfigError(std::string(has_rank ? "RANK" : "WORLD_SIZE") + " is set in the environment and " +
                      (has_rank ? "WORLD_SIZE" : "RANK") + " is not; set both to run one rank, or none to start all");
  }
  if (has_rank && request.num_ranks > 1) {
    throw ConfigError(
        "--nproc-per-node " + std::to_string(request.num_ranks) +
        " asks to start ranks, but RANK and WORLD_SIZE are set: this is one rank already; drop the flag or unset them");
  }
  return has_rank;
}

std::map<std::string, std::string> rank_environment_of(int rank, int num_ranks, int port) {
  const std::string number = std::to_string(rank);
  const std::string count = std::to_string(num_ranks);
  return {{"RANK", number},
          {"LOCAL_RANK", number},
          {"WORLD_SIZE", count},
          {"LOCAL_WORLD_SIZE", count},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)}};
}

Outcome launch_ranks(const Worker& worker, const TrainRequest& request, const LineSink& lines) {
  const int port = free_port();
  SignalSource signals;
  std::vector<NamedProcess> ranks;
  for (int rank = 0; rank < request.num_ranks; ++rank) {
    ProcessSpec spec;
    spec.command = command_of(worker, "train", request.arguments);
    spec.environment = rank_environment_of(rank, request.num_ranks, port);
    spec.pipes_output = rank > 0 || lines;
    spec.has_own_group = true;
    ranks.push_back({"rank " + std::to_string(rank), spawn(spec), lines});
  }
  return outcome_of(supervise(std::move(ranks), signals, worker.timing));
}

Outcome launch_command(const Worker& worker, const std::string& command, const std::vector<std::string>& arguments) {
  SignalSource signals;
  ProcessSpec spec;
  spec.command = command_of(worker, command, arguments);
  std::vector<NamedProcess> processes;
  processes.push_back({"slipway " + command, spawn(spec)});
  std::vector<RankEnd> ends = supervise(std::move(processes), signals, worker.timing);
  if (ends[0].report) ends[0].report->step.clear();
  return outcome_of(ends);
}

}  // namespace slipway
