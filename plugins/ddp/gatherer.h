// Makes updated parameters whole again: gathers every rank's part of every bucket, in place. Buckets start in forward
// order, the reverse of their reduction, so that the next forward pass finds its first parameters first.
#pragma once

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "plugins/ddp/collectives.h"

namespace ddp {

class Gatherer {
 public:
  static constexpr std::int32_t kAll = -1;

  // Keeps views of the buffers. Throws slw::Error when they are not what the layout asked for. Without overlap nothing
  // is outstanding after start().
  Gatherer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, bool overlaps);

  // Waits for what an earlier start left outstanding, then starts every bucket. From one thread at a time.
  // [collective: the buffers' groups]
  void start(const slw_stream* stream);
  // Returns when the bucket of a parameter, or kAll, is complete in stream order; at once when that was seen before.
  // Only threads that want the same bucket wait for each other. Any thread.
  void wait(std::int32_t param, const slw_stream* stream);

 private:
  struct Running {
    Running(const Members& members, const Bucket& bucket, const Buffer& buffer, const slw_tensor& param);
    const slw_group* group;  // nullptr: one rank, nothing to do
    slw::View part, whole;
    std::mutex mutex;              // guards the rest
    bool is_stale = false;         // holds other ranks' old numbers, and no gather is under way
    Work work;                     // of the last start; kept so that every stream can wait for it
    std::vector<void*> followers;  // streams that have
  };

  void wait_for_all(const slw_stream* stream);
  void launch(Running& bucket, const slw_stream* stream);
  void wait_for(Running& bucket, const slw_stream* stream);

  Collectives comm_;
  bool overlaps_;
  std::shared_mutex starting_;   // held alone by start()
  std::deque<Running> buckets_;  // in launch order
  std::unordered_map<std::int32_t, Running*> bucket_of_;
};

}  // namespace ddp
