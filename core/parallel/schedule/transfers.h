// A schedule turned into what each rank does: computations, and batches of sends and receives between them. Pure
// functions over values; any thread.
//
// What goes from one rank to another is a channel: messages arrive in the order in which they were sent, and channels
// do not hold each other up (Gloo; over NCCL one communicator per direction). A result is sent right after its pass;
// receives are posted one pass ahead, so that they overlap with a computation, in the order of the sends. A computation
// waits for what it needs and never for a send. Then the only way to wait for ever is an order of passes that goes in
// circles, which validate.h finds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/schedule/schedule.h"

namespace slipway {

enum class TransferWhat { kActivation, kGradient };

struct Transfer {
  bool is_send = false;
  TransferWhat what = TransferWhat::kActivation;
  int32_t peer = 0;   // pipeline rank
  int32_t chunk = 0;  // of this rank: whose result is sent, or whose pass wants what comes
  int32_t microbatch = 0;

  bool operator==(const Transfer&) const = default;
};

// Either a computation or a batch of transfers that start together.
struct Action {
  std::optional<Pass> compute;
  std::vector<Transfer> transfers;
};

struct RankProgram {
  std::vector<Action> actions;
  int32_t max_live = 0;  // most forwards of this rank whose backward is still to come
};

// One program per rank. Throws ConfigError as validate() does.
std::vector<RankProgram> compile(const Schedule& schedule);

// The same of a table whose passes are all there and in range, whether or not it comes to its end.
std::vector<RankProgram> compile_unchecked(const Schedule& schedule);

// Empty: every computation of the programs gets what it needs. Else which rank waits where.
std::string deadlock_of(const std::vector<RankProgram>& programs, const Schedule& schedule);

}  // namespace slipway
