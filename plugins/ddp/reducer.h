// Sums the gradients of attached buffers over their groups, bucket by bucket, always in the layout's order: all of a
// bucket on every rank, or in a sharded layout each rank's part of it in place, where the rest of the bucket holds
// nothing of use afterwards. With overlap a bucket starts as soon as its gradients and all buckets before it are there;
// without, all start in finish(). ready() may come from any thread; the rest from one at a time.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "plugins/ddp/collectives.h"

namespace ddp {

struct ReduceOptions {
  bool overlaps;
  bool averages;  // while they are reduced; what comes out are sums
};

class Reducer {
 public:
  // Keeps views of the buffers. Throws slw::Error when they are not what the layout asked for, or when the host cannot
  // communicate over a group of several ranks.
  Reducer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, const ReduceOptions& options);

  // A step begins.
  void arm();
  // The gradient of a parameter is complete in this microbatch.
  void ready(const slw_ready_args& args);
  // Starts what has not started and waits for everything. [collective: the buffers' groups]
  void finish(const slw_stream* stream);

 private:
  struct Running {
    Running(const Members& ranks, const Bucket& bucket, const Buffer& buffer, const slw_tensor& grad);
    Members members;
    std::size_t num_params;
    bool scatters;
    slw::View whole, part;  // part: what holds the sum afterwards
    std::size_t missing = 0;
    Work work;
  };
  struct Gradient {
    std::size_t bucket;
    bool is_ready;
  };
  enum class State { kIdle, kArmed, kFailed };

  void check_armed() const;
  void check_stream(const slw_stream& stream);
  void launch_next(const slw_stream* stream);
  void complete(Running& bucket, const slw_stream* stream);

  Collectives comm_;
  ReduceOptions options_;
  std::mutex mutex_;
  State state_ = State::kIdle;
  std::deque<Running> buckets_;  // in launch order
  std::size_t num_launched_ = 0;
  std::unordered_map<std::int32_t, Gradient> gradients_;  // by parameter index
  std::optional<void*> stream_;                           // that this step's gradients come on
};

}  // namespace ddp
