// A pipeline schedule as a table: for each pipeline rank the order of its forwards and backwards. Communication is not
// in it; transfers.h derives that. Generated ones are those of Megatron-core (reference 1.10); files may hold any
// other. Pure functions over values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

enum class PassKind { kForward, kBackward };

// One microbatch through one model chunk of a rank. Chunk c of rank r is virtual stage c x pp + r.
struct Pass {
  PassKind kind = PassKind::kForward;
  int32_t chunk = 0;
  int32_t microbatch = 0;

  bool operator==(const Pass&) const = default;
};

struct Schedule {
  int32_t pp = 1, vpp = 1, num_microbatches = 1;
  std::vector<std::vector<Pass>> ranks;

  int32_t num_stages() const { return pp * vpp; }
  bool operator==(const Schedule&) const = default;
};

// 1F1B: rank r runs min(pp - r - 1, m) forwards, then one forward and one backward in turns, then the backwards that
// are left. With one rank that is no pipelining: F0 B0 F1 B1.
Schedule one_forward_one_backward(int32_t pp, int32_t num_microbatches);

// Interleaved 1F1B over vpp chunks per rank; `group` microbatches of a chunk before the next chunk's turn. Throws
// ConfigError with the numbers and the nearest legal values unless pp <= group <= m, and m is a multiple of `group` or
// leaves a rest of at least pp.
Schedule interleaved(int32_t pp, int32_t vpp, int32_t num_microbatches, int32_t group);

// For evaluation: all forwards, in the order of chunks and microbatches that keeps every rank busy.
Schedule forward_only(int32_t pp, int32_t vpp, int32_t num_microbatches);

// The order in which chunks and microbatches go forward in the interleaved schedule, the same on every rank.
std::vector<Pass> interleaved_order(int32_t vpp, int32_t num_microbatches, int32_t group);

// "F3", "B0"; with several chunks "F3.1" for chunk 1.
std::string to_string(const Pass& pass, int32_t vpp);

// The text format of README.md. `name` is the file, for messages. Throws ConfigError for anything that is not such a
// table, naming the place; it may still be one that cannot run (validate.h).
Schedule schedule_from_json(const std::string& text, const std::string& name);
std::string schedule_to_json(const Schedule& schedule);

}  // namespace slipway
