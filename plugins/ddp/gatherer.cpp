#include "plugins/ddp/gatherer.h"

#include <algorithm>

#include "plugins/ddp/attached.h"

namespace ddp {

Gatherer::Running::Running(const Members& members, const Bucket& bucket, const Buffer& buffer, const slw_tensor& param)
    : group(members.group),
      part(slice(param, part_of(bucket, buffer.num_shards, members.rank))),
      whole(slice(param, {bucket.begin, bucket.end})) {}

Gatherer::Gatherer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, bool overlaps)
    : comm_(host), overlaps_(overlaps) {
  check_attached(layout, args, kParameters);
  for (auto bucket = layout.buckets.rbegin(); bucket != layout.buckets.rend(); ++bucket) {
    const auto id = static_cast<std::size_t>(bucket->buffer);
    const Buffer& buffer = layout.buffers[id];
    Running& added = buckets_.emplace_back(comm_.members_of(buffer), *bucket, buffer, args.buffers[id]->param);
    for (const Place& place : bucket->places) bucket_of_[place.param] = &added;
  }
}

void Gatherer::start(const slw_stream* stream) {
  const std::unique_lock<std::shared_mutex> alone(starting_);
  wait_for_all(stream);
  for (Running& bucket : buckets_) {
    const std::lock_guard<std::mutex> lock(bucket.mutex);
    bucket.is_stale = bucket.group != nullptr;
  }
  for (Running& bucket : buckets_) launch(bucket, stream);
  if (!overlaps_) wait_for_all(stream);
}

void Gatherer::wait(std::int32_t param, const slw_stream* stream) {
  const std::shared_lock<std::shared_mutex> lock(starting_);
  if (param == kAll) return wait_for_all(stream);
  const auto at = bucket_of_.find(param);
  if (at == bucket_of_.end()) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("param_gather_wait of parameter ", param, ", never planned"));
  }
  wait_for(*at->second, stream);
}

void Gatherer::wait_for_all(const slw_stream* stream) {
  for (Running& bucket : buckets_) wait_for(bucket, stream);
}

void Gatherer::launch(Running& bucket, const slw_stream* stream) {
  if (bucket.group == nullptr) return;
  const std::lock_guard<std::mutex> lock(bucket.mutex);
  bucket.work = comm_.all_gather(bucket.group, *bucket.part, *bucket.whole, stream);
  bucket.followers.clear();
  bucket.is_stale = false;
}

void Gatherer::wait_for(Running& bucket, const slw_stream* stream) {
  const std::lock_guard<std::mutex> lock(bucket.mutex);
  if (bucket.is_stale) throw slw::Error(SLW_COMM, "an earlier gather of parameters failed");
  void* follower = stream == nullptr ? nullptr : stream->native;
  std::vector<void*>& followers = bucket.followers;
  if (bucket.work == nullptr || std::find(followers.begin(), followers.end(), follower) != followers.end()) return;
  bucket.is_stale = true;
  comm_.wait(bucket.work, stream);
  followers.push_back(follower);
  bucket.is_stale = false;
}

}  // namespace ddp
