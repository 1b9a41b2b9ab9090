#include "core/comm/comm_service.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace slipway {
namespace {

Group& as_group(const slw_group* group) {
  if (group == nullptr) throw CommError("the group given to a collective is NULL");
  return *const_cast<Group*>(reinterpret_cast<const Group*>(group));
}

// Every entry of the table that may fail goes through here.
template <class Call>
slw_status guarded(slw_error* error, Call&& call) noexcept {
  return status_of(error, SLW_COMM, call);
}

// One call on a group, ordered after `stream`. With `out` NULL it is complete (CPU) or in stream order (CUDA) on
// return.
struct Enqueue {
  const slw_group* group;
  const slw_stream* stream;
  slw_work** out;
  slw_error* error;

  template <class Call>
  slw_status operator()(Call&& call) const noexcept {
    return guarded(error, [&] {
      Group& target = as_group(group);
      const std::unique_ptr<StreamScope> scope = target.order_after(stream);
      WorkPtr work = call(target);
      if (out == nullptr) {
        work->wait_on(stream);
      } else {
        *out = reinterpret_cast<slw_work*>(work.release());
      }
    });
  }
};

slw_status all_reduce(const slw_group* g, slw_tensor* t, int32_t op, const slw_stream* s, slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.all_reduce(*t, op); });
}
slw_status all_gather(const slw_group* g, const slw_tensor* in, slw_tensor* out, const slw_stream* s, slw_work** w,
                      slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.all_gather(*in, *out); });
}
slw_status reduce_scatter(const slw_group* g, const slw_tensor* in, slw_tensor* out, int32_t op, const slw_stream* s,
                          slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.reduce_scatter(*in, *out, op); });
}
slw_status all_to_all(const slw_group* g, const slw_tensor* in, const int64_t* in_rows, slw_tensor* out,
                      const int64_t* out_rows, const slw_stream* s, slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.all_to_all(*in, in_rows, *out, out_rows); });
}
slw_status broadcast(const slw_group* g, slw_tensor* t, int32_t root, const slw_stream* s, slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.broadcast(*t, root); });
}
slw_status send(const slw_group* g, const slw_tensor* t, int32_t peer, const slw_stream* s, slw_work** w,
                slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.send(*t, peer); });
}
slw_status recv(const slw_group* g, slw_tensor* t, int32_t peer, const slw_stream* s, slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.recv(*t, peer); });
}
slw_status coalesce_begin(const slw_group* g, slw_error* e) {
  return guarded(e, [&] { as_group(g).coalesce_begin(); });
}
slw_status coalesce_end(const slw_group* g, const slw_stream* s, slw_work** w, slw_error* e) {
  return Enqueue{g, s, w, e}([&](Group& group) { return group.coalesce_end(); });
}
slw_status barrier(const slw_group* g, slw_error* e) {
  return guarded(e, [&] { as_group(g).barrier(); });
}
slw_status work_wait(slw_work* work, const slw_stream* stream, slw_error* e) {
  return guarded(e, [&] { reinterpret_cast<Work*>(work)->wait_on(stream); });
}

}  // namespace

slw_status put_error(slw_error* error, slw_status code, const std::string& message) noexcept {
  if (!SLW_HAS(error, slw_error, needed)) return code;
  error->code = code;
  error->needed = static_cast<uint32_t>(message.size() + 1);
  if (error->message != nullptr && error->capacity > 0) {
    const size_t n = std::min<size_t>(message.size(), error->capacity - 1);
    std::memcpy(error->message, message.data(), n);
    error->message[n] = '\0';
  }
  return code;
}

slw_comm make_comm_service(const slw_group* (*find)(const slw_host*, const char* name)) {
  slw_comm table{};
  table.struct_size = SLW_SIZE_TO(slw_comm, work_release);
  table.group = find;
  table.rank = [](const slw_group* g) -> int32_t { return as_group(g).rank(); };
  table.size = [](const slw_group* g) -> int32_t { return as_group(g).size(); };
  table.global_ranks = [](const slw_group* g) -> const int32_t* { return as_group(g).ranks().data(); };
  table.all_reduce = all_reduce;
  table.all_gather = all_gather;
  table.reduce_scatter = reduce_scatter;
  table.all_to_all = all_to_all;
  table.broadcast = broadcast;
  table.send = send;
  table.recv = recv;
  table.coalesce_begin = coalesce_begin;
  table.coalesce_end = coalesce_end;
  table.barrier = barrier;
  table.work_wait = work_wait;
  table.work_release = [](slw_work* work) { delete reinterpret_cast<Work*>(work); };
  return table;
}

}  // namespace slipway
