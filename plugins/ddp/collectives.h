// The host's collectives as the backends of this folder use them: asynchronous, with works that release themselves.
// A value; any thread.
#pragma once

#include <memory>
#include <slipway/sdk.hpp>

#include "plugins/ddp/layout.h"

namespace ddp {

struct WorkRelease {
  const slw_comm* comm;
  void operator()(slw_work* work) const { comm->work_release(work); }
};
using Work = std::unique_ptr<slw_work, WorkRelease>;

// The ranks that share a buffer.
struct Members {
  const slw_group* group;  // nullptr: this rank alone, nothing to communicate
  std::int32_t rank, size;
};

class Collectives {
 public:
  explicit Collectives(const slw::Host& host) : host_(host), comm_(host.comm()) {}

  // Throws slw::Error when the host has no such group, or one of another size than the buffer was cut for.
  Members members_of(const Buffer& buffer) const;

  // Tensors stay untouched until wait(). All sums. [collective: the group]
  Work all_reduce(const slw_group* group, slw_tensor& inout, const slw_stream* stream) const;
  // `out` is this rank's part of `in`, in place.
  Work reduce_scatter(const slw_group* group, const slw_tensor& in, slw_tensor& out, const slw_stream* stream) const;
  // `in` is this rank's part of `out`, in place.
  Work all_gather(const slw_group* group, const slw_tensor& in, slw_tensor& out, const slw_stream* stream) const;
  void wait(const Work& work, const slw_stream* stream) const;

 private:
  template <class Start>
  Work start(Start&& start) const {
    slw_work* work = nullptr;
    slw::call([&](slw_error* error) { return start(&work, error); });
    return Work(work, {comm_});
  }

  slw::Host host_;
  const slw_comm* comm_;
};

}  // namespace ddp
