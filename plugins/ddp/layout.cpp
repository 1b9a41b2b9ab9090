#include "plugins/ddp/layout.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace ddp {

namespace {

constexpr std::int64_t kAlignment = 64;  // elements, as in Megatron; a multiple of the 64 bytes that kernels want

std::int64_t aligned(std::int64_t offset, std::int64_t to) { return (offset + to - 1) / to * to; }

void check(const slw_dp_param& param) {
  const auto refuse = [&](const std::string& why) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("parameter ", param.index, " ", why));
  };
  if (param.decl == nullptr) refuse("has no declaration");
  if (param.group == nullptr) refuse("names no group of ranks");
  if (param.local_numel < 1) refuse(slw::cat("has ", param.local_numel, " elements, at least 1 is needed"));
}

void check_indices(const std::vector<const slw_dp_param*>& params) {
  std::set<std::int32_t> seen;
  for (const slw_dp_param* param : params) {
    if (seen.insert(param->index).second) continue;
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("parameter ", param->index, " is in the table twice"));
  }
}

std::vector<const slw_dp_param*> in_backward_order(slw::Items<const slw_dp_param> params) {
  std::vector<const slw_dp_param*> order;
  for (const slw_dp_param& param : params) {
    check(param);
    order.push_back(&param);
  }
  const auto key = [](const slw_dp_param* p) { return std::make_pair(p->backward_order, -p->index); };
  std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  check_indices(order);
  return order;
}

std::optional<std::int64_t> bucket_size(slw::Items<const slw_dp_param> params, const LayoutOptions& options) {
  if (!options.num_buckets || !options.bucket_size) return options.bucket_size;
  std::int64_t total = 0;
  for (const slw_dp_param& param : params) total += param.local_numel;
  return std::max<std::int64_t>(total / *options.num_buckets, 1);
}

class Builder {
 public:
  Builder(const LayoutOptions& options, std::optional<std::int64_t> bucket_size)
      : options_(options), bucket_size_(bucket_size) {
    layout_.is_sharded = !options.ranks_of_group.empty();
  }

  void add(const slw_dp_param& param) {
    const std::size_t id = buffer_of(param);
    Growing& buffer = growing_[id];
    const bool is_tie = param.decl->tie != nullptr;
    if (is_tie) close(id);
    const std::int64_t offset = aligned(buffer.end, kAlignment);
    buffer.end = offset + param.local_numel;
    buffer.numel += param.local_numel;
    buffer.last_order = param.backward_order;
    layout_.places.push_back({param.index, static_cast<std::int32_t>(id), offset, param.local_numel});
    buffer.bucket.places.push_back(layout_.places.back());
    if (is_tie || is_full(buffer, param.chunk)) close(id);
  }

  Layout finish() {
    for (std::size_t id = 0; id < growing_.size(); ++id) {
      close(id);
      layout_.buffers[id].numel = growing_[id].bucket.begin;
    }
    std::stable_sort(closed_.begin(), closed_.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
    for (Closed& closed : closed_) layout_.buckets.push_back(std::move(closed.bucket));
    return std::move(layout_);
  }

 private:
  struct Growing {
    Bucket bucket;           // the open one
    std::int64_t end = 0;    // of what is placed
    std::int64_t numel = 0;  // of the open bucket's parameters
    std::int32_t last_order = 0;
  };
  struct Closed {
    std::int32_t order;  // when its last gradient comes
    Bucket bucket;
  };

  // Megatron has gaps between parameters only where it shards, and counts them there.
  bool is_full(const Growing& buffer, std::int32_t chunk) const {
    if (!bucket_size_ || chunk > 0) return false;
    return (layout_.is_sharded ? buffer.end - buffer.bucket.begin : buffer.numel) >= *bucket_size_;
  }

  std::size_t buffer_of(const slw_dp_param& param) {
    const slw_dtype dtype = slw::same_dtype(param.decl->dtype, slw::any_dtype) ? options_.param : param.decl->dtype;
    const auto fits = [&](const Buffer& b) {
      return b.chunk == param.chunk && b.group == param.group && slw::same_dtype(b.param, dtype);
    };
    const auto at = std::find_if(layout_.buffers.begin(), layout_.buffers.end(), fits);
    if (at != layout_.buffers.end()) return static_cast<std::size_t>(at - layout_.buffers.begin());
    const auto id = static_cast<std::int32_t>(layout_.buffers.size());
    const slw_dtype grad = options_.is_grad_fp32 ? slw::f32 : dtype;
    layout_.buffers.push_back({dtype, grad, param.group, param.chunk, 0, num_shards(param.group)});
    growing_.push_back({{id, 0, 0, {}}});
    return layout_.buffers.size() - 1;
  }

  std::int64_t num_shards(const std::string& group) const {
    if (!layout_.is_sharded) return 1;
    const auto at = options_.ranks_of_group.find(group);
    if (at != options_.ranks_of_group.end()) return at->second;
    throw slw::Error(SLW_UNSUPPORTED, slw::cat("parameters of the group '", group, "' cannot be sharded"));
  }

  void close(std::size_t id) {
    Growing& buffer = growing_[id];
    if (buffer.bucket.places.empty()) return;
    const std::int64_t end = aligned(buffer.end, std::lcm(layout_.buffers[id].num_shards, options_.granularity));
    buffer.bucket.end = buffer.end = end;
    buffer.numel = 0;
    Bucket next{buffer.bucket.buffer, end, 0, {}};
    closed_.push_back({buffer.last_order, std::move(buffer.bucket)});
    buffer.bucket = std::move(next);
  }

  const LayoutOptions& options_;
  std::optional<std::int64_t> bucket_size_;
  Layout layout_;
  std::vector<Growing> growing_;  // beside layout_.buffers
  std::vector<Closed> closed_;
};

}  // namespace

Layout make_layout(slw::Items<const slw_dp_param> params, const LayoutOptions& options) {
  Builder builder(options, bucket_size(params, options));
  for (const slw_dp_param* param : in_backward_order(params)) builder.add(*param);
  return builder.finish();
}

}  // namespace ddp
