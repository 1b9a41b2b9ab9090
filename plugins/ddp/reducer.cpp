#include "plugins/ddp/reducer.h"

namespace ddp {

namespace {

void check_buffer(const Buffer& planned, const slw_buffer& buffer, std::int32_t id) {
  const slw_tensor& grad = buffer.grad;
  const bool fits = buffer.id == id && grad.ndim == 1 && grad.shape[0] == planned.numel && slw::is_contiguous(grad) &&
                    slw::same_dtype(grad.dtype, planned.grad) && grad.data != nullptr;
  if (fits) return;
  throw slw::Error(SLW_INVALID_ARGUMENT,
                   slw::cat("ddp: buffer ", buffer.id, " at place ", id, " has gradients ", slw::describe(grad),
                            ", planned was ", slw::dtype_name(planned.grad), " [", planned.numel, "]"));
}

}  // namespace

Reducer::Running::Running(const slw_group* of, const slw_comm* comm, const Bucket& bucket, const slw_tensor& buffer)
    : group(of),
      num_params(bucket.params.size()),
      grad(static_cast<char*>(slw::raw(buffer)) + bucket.begin * slw::dtype_bytes(buffer.dtype), buffer.dtype,
           {bucket.end - bucket.begin}, buffer.device),
      work(nullptr, {comm}) {}

Reducer::Reducer(const slw::Host& host, const Layout& layout, const slw_attach_args& args, bool overlaps)
    : comm_(host.comm()), overlaps_(overlaps) {
  if (args.num_buffers != layout.buffers.size()) {
    throw slw::Error(SLW_INVALID_ARGUMENT,
                     slw::cat("ddp: attach got ", args.num_buffers, " buffers, planned were ", layout.buffers.size()));
  }
  for (std::uint32_t id = 0; id < args.num_buffers; ++id) {
    check_buffer(layout.buffers[id], *args.buffers[id], static_cast<std::int32_t>(id));
  }
  for (const Bucket& bucket : layout.buckets) {
    const auto id = static_cast<std::size_t>(bucket.buffer);
    for (const std::int32_t param : bucket.params) gradients_[param] = {buckets_.size(), false};
    buckets_.emplace_back(group(host, layout.buffers[id].group), comm_, bucket, args.buffers[id]->grad);
  }
}

const slw_group* Reducer::group(const slw::Host& host, const std::string& name) const {
  if (comm_ == nullptr) throw slw::Error(SLW_PRECONDITION, "ddp: this host has no service " SLW_SERVICE_COMM);
  const slw_group* found = comm_->group(host.get(), name.c_str());
  if (found == nullptr) throw slw::Error(SLW_UNSUPPORTED, slw::cat("ddp: this host has no group '", name, "'"));
  return comm_->size(found) > 1 ? found : nullptr;
}

void Reducer::arm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::kIdle) {
    throw slw::Error(SLW_PRECONDITION, "ddp: step_begin before the last step's grad_reduce_finish");
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
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("ddp: grad_ready of parameter ", args.index, ", never planned"));
  }
  if (args.last_microbatch == 0) return;
  if (at->second.is_ready) {
    throw slw::Error(SLW_PRECONDITION, slw::cat("ddp: the gradient of parameter ", args.index,
                                                " was reported twice in the last microbatch of a step"));
  }
  at->second.is_ready = true;
  --buckets_[at->second.bucket].missing;
  if (!overlaps_) return;
  check_stream(args.stream);
  while (num_launched_ < buckets_.size() && buckets_[num_launched_].missing == 0) launch_next(&args.stream);
}

void Reducer::finish(const slw_stream* stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  check_armed();
  while (num_launched_ < buckets_.size()) launch_next(stream);
  state_ = State::kFailed;
  for (Running& bucket : buckets_) {
    if (bucket.work == nullptr) continue;
    slw::call([&](slw_error* error) { return comm_->work_wait(bucket.work.get(), stream, error); });
    bucket.work.reset();
  }
  state_ = State::kIdle;
}

void Reducer::check_armed() const {
  if (state_ == State::kFailed) throw slw::Error(SLW_COMM, "ddp: an earlier reduction of this step failed");
  if (state_ == State::kIdle) throw slw::Error(SLW_PRECONDITION, "ddp: step_begin has not been called");
}

// A bucket starts on the stream of its last gradient, so the others have to be complete there as well.
void Reducer::check_stream(const slw_stream& stream) {
  if (stream_.value_or(stream.native) != stream.native) {
    throw slw::Error(SLW_UNSUPPORTED,
                     "ddp: the gradients of one step come on several streams; set overlap_grad_reduce to false");
  }
  stream_ = stream.native;
}

void Reducer::launch_next(const slw_stream* stream) {
  Running& bucket = buckets_[num_launched_++];
  if (bucket.group == nullptr) return;
  state_ = State::kFailed;
  slw_work* work = nullptr;
  slw::call([&](slw_error* error) {
    return comm_->all_reduce(bucket.group, bucket.grad.get(), SLW_SUM, stream, &work, error);
  });
  bucket.work.reset(work);
  state_ = State::kArmed;
}

}  // namespace ddp
