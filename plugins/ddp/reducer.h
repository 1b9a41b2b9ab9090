// Sums the gradients of attached buffers over their groups, bucket by bucket, always in the layout's order. With
// overlap a bucket starts as soon as its gradients and all buckets before it are there; without, all start in finish().
// ready() may come from any thread; the rest from one at a time.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <slipway/sdk.hpp>
#include <unordered_map>

#include "plugins/ddp/layout.h"

namespace ddp {

class Reducer {
 public:
  // Keeps views of the buffers. Throws slw::Error when they are not what the layout asked for, or when the host cannot
  // communicate over a group of several ranks.
  Reducer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, bool overlaps);

  // A step begins.
  void arm();
  // The gradient of a parameter is complete in this microbatch.
  void ready(const slw_ready_args& args);
  // Starts what has not started and waits for everything. [collective: the buffers' groups]
  void finish(const slw_stream* stream);

 private:
  struct WorkRelease {
    const slw_comm* comm;
    void operator()(slw_work* work) const { comm->work_release(work); }
  };
  using Work = std::unique_ptr<slw_work, WorkRelease>;

  struct Running {
    Running(const slw_group* of, const slw_comm* comm, const Bucket& bucket, const slw_tensor& buffer);
    const slw_group* group;  // nullptr: one rank, nothing to do
    std::size_t num_params;
    slw::View grad;
    std::size_t missing = 0;
    Work work;
  };
  struct Gradient {
    std::size_t bucket;
    bool is_ready;
  };
  enum class State { kIdle, kArmed, kFailed };

  const slw_group* group(const slw::Host& host, const std::string& name) const;
  void check_armed() const;
  void check_stream(const slw_stream& stream);
  void launch_next(const slw_stream* stream);

  const slw_comm* comm_;
  bool overlaps_;
  std::mutex mutex_;
  State state_ = State::kIdle;
  std::deque<Running> buckets_;  // in launch order
  std::size_t num_launched_ = 0;
  std::unordered_map<std::int32_t, Gradient> gradients_;  // by parameter index
  std::optional<void*> stream_;                           // that this step's gradients come on
};

}  // namespace ddp
