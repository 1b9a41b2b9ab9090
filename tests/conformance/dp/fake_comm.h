// A world of ranks that are threads of one process, with a slw.comm/1 that sums in rank order and notes what it was
// asked for. Only what a data-parallel backend needs; other collectives are NULL. The world outlives its ranks. Nothing
// moves before the last rank came, so that whoever reads too early sees old numbers.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <slipway/sdk.hpp>
#include <string>
#include <vector>

#include "tests/plugin/toy_host.h"

// The ranks of one group and the collectives between them.
class FakeChannel {
 public:
  explicit FakeChannel(int32_t size) : size_(size) {}
  int32_t size() const { return size_; }

  enum class Operation { kAllReduce, kReduceScatter, kAllGather };
  // What one rank gives; `in` and `out` may be parts of each other.
  struct Part {
    Operation operation;
    const slw_tensor* in;
    slw_tensor* out;
  };

  // Call number `number` of this rank; the last rank to come does the work. Throws when the calls do not match.
  void post(int64_t number, int32_t rank, const Part& part);
  // Returns when that call is complete.
  void wait(int64_t number);
  // From now on wait() throws instead of blocking.
  void break_down();

 private:
  struct Call {
    std::vector<Part> parts;
    int32_t arrived = 0;
    bool is_done = false;
  };

  int32_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Call> calls_;
  bool is_broken_ = false;
};

// One call as a rank made it.
struct Collective {
  std::string group;
  FakeChannel::Operation operation;
  int64_t numel;     // of the whole
  const void* data;  // where the whole begins
  bool is_async;
};

class FakeRank;

struct slw_group {
  FakeRank* owner;
  std::string name;
  FakeChannel* channel;
  int32_t rank;
  std::vector<int32_t> global_ranks;
  int64_t num_calls = 0;
};
struct slw_work {
  FakeChannel* channel;
  int64_t number;  // in the channel
  FakeRank* owner;
  int64_t call;  // of the owner
};

// The host of one rank: groups "dp_cp" (all ranks) and "edp".
class FakeRank {
 public:
  FakeRank(const FakeRank&) = delete;
  FakeRank& operator=(const FakeRank&) = delete;

  const slw_host* get() const { return &host_; }
  int32_t rank() const { return rank_; }
  // In the order of the calls.
  const std::vector<Collective>& collectives() const { return collectives_; }
  // Numbers of the calls (from 0) that were waited for, in that order.
  std::vector<int64_t> waits() const;
  int32_t num_live_works() const { return num_live_works_; }
  // The call of that number (from 0) fails.
  void fail_at(int64_t call) { failing_call_ = call; }

 private:
  friend class FakeWorld;
  friend struct FakeCommCalls;
  explicit FakeRank(int32_t rank);
  slw_group* add_group(const std::string& name, FakeChannel* channel, std::vector<int32_t> global_ranks);

  int32_t rank_;
  ToyHost toy_;
  slw_host host_;
  slw_comm comm_;
  std::deque<slw_group> groups_;
  std::vector<Collective> collectives_;
  mutable std::mutex mutex_;  // guards waits_
  std::vector<int64_t> waits_;
  int32_t num_live_works_ = 0;
  int64_t failing_call_ = -1;
};

class FakeWorld {
 public:
  // Groups "edp" hold `expert_size` neighbouring ranks each.
  FakeWorld(int32_t size, int32_t expert_size);
  int32_t size() const { return static_cast<int32_t>(ranks_.size()); }
  FakeRank& rank(int32_t r) { return *ranks_[static_cast<std::size_t>(r)]; }
  // Frees every rank that waits.
  void break_down();

 private:
  std::deque<FakeChannel> channels_;
  std::vector<std::unique_ptr<FakeRank>> ranks_;
};
