#include "plugins/ddp/collectives.h"

namespace ddp {

Members Collectives::members_of(const Buffer& buffer) const {
  if (comm_ == nullptr) throw slw::Error(SLW_PRECONDITION, "this host has no service " SLW_SERVICE_COMM);
  const slw_group* group = comm_->group(host_.get(), buffer.group.c_str());
  if (group == nullptr) throw slw::Error(SLW_UNSUPPORTED, slw::cat("this host has no group '", buffer.group, "'"));
  const std::int32_t size = comm_->size(group);
  if (buffer.num_shards != 1 && buffer.num_shards != size) {
    throw slw::Error(SLW_PRECONDITION, slw::cat("the group '", buffer.group, "' has ", size, " ranks, but its buckets ",
                                                "were planned for ", buffer.num_shards));
  }
  return {size > 1 ? group : nullptr, comm_->rank(group), size};
}

Work Collectives::all_reduce(const slw_group* group, slw_tensor& inout, const slw_stream* stream) const {
  return start([&](slw_work** work, slw_error* error) {
    return comm_->all_reduce(group, &inout, SLW_SUM, stream, work, error);
  });
}

Work Collectives::reduce_scatter(const slw_group* group, const slw_tensor& in, slw_tensor& out,
                                 const slw_stream* stream) const {
  return start([&](slw_work** work, slw_error* error) {
    return comm_->reduce_scatter(group, &in, &out, SLW_SUM, stream, work, error);
  });
}

Work Collectives::all_gather(const slw_group* group, const slw_tensor& in, slw_tensor& out,
                             const slw_stream* stream) const {
  return start(
      [&](slw_work** work, slw_error* error) { return comm_->all_gather(group, &in, &out, stream, work, error); });
}

void Collectives::wait(const Work& work, const slw_stream* stream) const {
  slw::call([&](slw_error* error) { return comm_->work_wait(work.get(), stream, error); });
}

}  // namespace ddp
