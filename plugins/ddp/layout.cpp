#include "plugins/ddp/layout.h"

#include <algorithm>
#include <set>

namespace ddp {

namespace {

constexpr std::int64_t kAlignment = 64;  // elements, as in Megatron; a multiple of the 64 bytes that kernels want

std::int64_t aligned(std::int64_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

void check(const slw_dp_param& param) {
  const auto refuse = [&](const std::string& why) {
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("ddp: parameter ", param.index, " ", why));
  };
  if (param.decl == nullptr) refuse("has no declaration");
  if (param.group == nullptr) refuse("names no group of ranks");
  if (param.local_numel < 1) refuse(slw::cat("has ", param.local_numel, " elements, at least 1 is needed"));
}

void check_indices(const std::vector<const slw_dp_param*>& params) {
  std::set<std::int32_t> seen;
  for (const slw_dp_param* param : params) {
    if (seen.insert(param->index).second) continue;
    throw slw::Error(SLW_INVALID_ARGUMENT, slw::cat("ddp: parameter ", param->index, " is in the table twice"));
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

class Builder {
 public:
  explicit Builder(const LayoutOptions& options) : options_(options) {}

  void add(const slw_dp_param& param) {
    const std::size_t id = buffer_of(param);
    Growing& buffer = growing_[id];
    const bool is_tie = param.decl->tie != nullptr;
    if (is_tie) close(id);
    const std::int64_t offset = aligned(buffer.end);
    buffer.end = offset + param.local_numel;
    buffer.bucket.params.push_back(param.index);
    buffer.last_order = param.backward_order;
    layout_.places.push_back({param.index, static_cast<std::int32_t>(id), offset});
    if (is_tie || buffer.end - buffer.bucket.begin >= options_.bucket_size) close(id);
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
    Bucket bucket;     // the open one
    std::int64_t end;  // of what is placed
    std::int32_t last_order;
  };
  struct Closed {
    std::int32_t order;  // when its last gradient comes
    Bucket bucket;
  };

  std::size_t buffer_of(const slw_dp_param& param) {
    const slw_dtype dtype = slw::same_dtype(param.decl->dtype, slw::any_dtype) ? options_.param : param.decl->dtype;
    const auto fits = [&](const Buffer& b) {
      return b.chunk == param.chunk && b.group == param.group && slw::same_dtype(b.param, dtype);
    };
    const auto at = std::find_if(layout_.buffers.begin(), layout_.buffers.end(), fits);
    if (at != layout_.buffers.end()) return static_cast<std::size_t>(at - layout_.buffers.begin());
    const auto id = static_cast<std::int32_t>(layout_.buffers.size());
    layout_.buffers.push_back({dtype, options_.grad, param.group, param.chunk, 0});
    growing_.push_back({{id, 0, 0, {}}, 0, 0});
    return layout_.buffers.size() - 1;
  }

  void close(std::size_t id) {
    Growing& buffer = growing_[id];
    if (buffer.bucket.params.empty()) return;
    buffer.bucket.end = aligned(buffer.end);
    Bucket next{buffer.bucket.buffer, buffer.bucket.end, 0, {}};
    closed_.push_back({buffer.last_order, std::move(buffer.bucket)});
    buffer.bucket = std::move(next);
  }

  LayoutOptions options_;
  Layout layout_;
  std::vector<Growing> growing_;  // beside layout_.buffers
  std::vector<Closed> closed_;
};

}  // namespace

Layout make_layout(slw::Items<const slw_dp_param> params, const LayoutOptions& options) {
  Builder builder(options);
  for (const slw_dp_param* param : in_backward_order(params)) builder.add(*param);
  return builder.finish();
}

}  // namespace ddp
