#include "plugins/ddp/reducer.h"

#include "plugins/ddp/attached.h"
#include "plugins/ddp/scale.h"

namespace ddp {

Reducer::Running::Running(const Members& ranks, const Bucket& bucket, const Buffer& buffer, const slw_tensor& grad)
    : members(ranks),
      num_params(bucket.places.size()),
      scatters(buffer.num_shards > 1),
      whole(slice(grad, {bucket.begin, bucket.end})),
      part(slice(grad, part_of(bucket, buffer.num_shards, ranks.rank))) {}

Reducer::Reducer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, const ReduceOptions& options)
    : comm_(host), options_(options) {
  check_attached(layout, args, kGradients);
  for (const Bucket& bucket : layout.buckets) {
    const auto id = static_cast<std::size_t>(bucket.buffer);
    const slw_tensor& grad = args.buffers[id]->grad;
    if (options.averages) check_scalable(grad);
    for (const Place& place : bucket.places) gradients_[place.param] = {buckets_.size(), false};
    buckets_.emplace_back(comm_.members_of(layout.buffers[id]), bucket, layout.buffers[id], grad);
  }
}

void Reducer::arm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kIdle) {
    throw slw::Error(SLW_PRECONDITION, "step_begin before the last step's grad_reduce_finish");
  }
  for (Running& bucket : buckets_) bucket.missing = bucket.num_params;
  for (auto& [index, gradient] : gradients_) gradient.is_ready = false;
  num_launched_ = 0;
  stream_.reset();
  state_ = State::kArmed;
}

void Reducer::ready(const slw_ready_args& args) {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_armed();
  const auto at = gradients_.find(args.index);
  if (at == gradients_.end()) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("grad_ready of parameter ", args.index, ", never planned"));
  }
  if (args.last_microbatch == 0) return;
  if (at->second.is_ready) {
    throw slw::Error(SLW_PRECONDITION, slw::cat("the gradient of parameter ", args.index,
                                                " was reported twice in the last microbatch of a step"));
  }
  at->second.is_ready = true;
  --buckets_[at->second.bucket].missing;
  if (!options_.overlaps) return;
  check_stream(args.stream);
  while (num_launched_ < buckets_.size() && buckets_[num_launched_].missing == 0) launch_next(&args.stream);
}

void Reducer::finish(const slw_stream* stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_armed();
  while (num_launched_ < buckets_.size()) launch_next(stream);
  state_ = State::kFailed;
  for (Running& bucket : buckets_) complete(bucket, stream);
  state_ = State::kIdle;
}

void Reducer::check_armed() const {
  if (state_ == State::kFailed) throw slw::Error(SLW_COMM, "an earlier reduction of this step failed");
  if (state_ == State::kIdle) throw slw::Error(SLW_PRECONDITION, "step_begin has not been called");
}

// A bucket starts on the stream of its last gradient, so the others have to be complete there as well.
void Reducer::check_stream(const slw_stream& stream) {
  if (stream_.value_or(stream.native) != stream.native) {
    throw slw::Error(SLW_UNSUPPORTED,
                     "the gradients of one step come on several streams; set overlap_grad_reduce to false");
  }
  stream_ = stream.native;
}

void Reducer::launch_next(const slw_stream* stream) {
  Running& bucket = buckets_[num_launched_++];
  const slw_group* group = bucket.members.group;
  if (group == nullptr) return;
  state_ = State::kFailed;
  if (options_.averages) scale(*bucket.whole, 1.0f / static_cast<float>(bucket.members.size));
  bucket.work = bucket.scatters ? comm_.reduce_scatter(group, *bucket.whole, *bucket.part, stream)
                                : comm_.all_reduce(group, *bucket.whole, stream);
  state_ = State::kArmed;
}

void Reducer::complete(Running& bucket, const slw_stream* stream) {
  if (bucket.work == nullptr) return;
  comm_.wait(bucket.work, stream);
  bucket.work.reset();
  if (options_.averages) scale(*bucket.part, static_cast<float>(bucket.members.size));
}

}  // namespace ddp
