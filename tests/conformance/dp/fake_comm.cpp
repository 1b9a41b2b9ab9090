#include "tests/conformance/dp/fake_comm.h"

#include <cstring>
#include <stdexcept>

namespace {

float as_float(float value) { return value; }
float as_float(slw::Bfloat16 value) { return value.to_float(); }
void assign(float& to, float value) { to = value; }
void assign(slw::Bfloat16& to, float value) { to = slw::Bfloat16::from(value); }

// In rank order, so that the result does not depend on who came when. Rank r gets its slice, or all.
template <class T>
void sum(const std::vector<FakeChannel::Part>& parts) {
  const auto n = static_cast<std::size_t>(slw::numel(*parts[0].in));
  std::vector<float> total(n);
  for (const FakeChannel::Part& part : parts) {
    for (std::size_t i = 0; i < n; ++i) total[i] += as_float(slw::data<T>(*part.in)[i]);
  }
  for (std::size_t r = 0; r < parts.size(); ++r) {
    const auto size = static_cast<std::size_t>(slw::numel(*parts[r].out));
    const std::size_t first = size == n ? 0 : r * size;
    for (std::size_t i = 0; i < size; ++i) assign(slw::data<T>(*parts[r].out)[i], total[first + i]);
  }
}

void gather(const std::vector<FakeChannel::Part>& parts) {
  const auto bytes = static_cast<std::size_t>(slw::numel(*parts[0].in) * slw::dtype_bytes(parts[0].in->dtype));
  for (const FakeChannel::Part& to : parts) {
    for (std::size_t r = 0; r < parts.size(); ++r) {
      std::memmove(static_cast<char*>(slw::raw(*to.out)) + r * bytes, slw::raw(*parts[r].in), bytes);
    }
  }
}

void complete(const std::vector<FakeChannel::Part>& parts) {
  if (parts[0].operation == FakeChannel::Operation::kAllGather) return gather(parts);
  slw::same_dtype(parts[0].in->dtype, slw::bf16) ? sum<slw::Bfloat16>(parts) : sum<float>(parts);
}

// What a group of `size` ranks can work on.
void check(const FakeChannel::Part& part, int32_t size) {
  if (!slw::is_contiguous(*part.in) || !slw::is_contiguous(*part.out)) throw std::runtime_error("not contiguous");
  const int64_t in = slw::numel(*part.in), out = slw::numel(*part.out);
  const bool fits = part.operation == FakeChannel::Operation::kAllReduce       ? in == out
                    : part.operation == FakeChannel::Operation::kReduceScatter ? in == out * size
                                                                               : out == in * size;
  if (!fits) throw std::runtime_error(slw::cat("sizes ", in, " and ", out, " do not fit ", size, " ranks"));
}

}  // namespace

void FakeChannel::post(int64_t number, int32_t rank, const Part& part) {
  check(part, size_);
  const std::lock_guard<std::mutex> lock(mutex_);
  Call& call = calls_[number];
  call.parts.resize(static_cast<std::size_t>(size_));
  for (const Part& other : call.parts) {
    const bool is_alike =
        other.in == nullptr || (other.operation == part.operation && slw::numel(*other.in) == slw::numel(*part.in));
    if (!is_alike) throw std::runtime_error("ranks disagree on a collective: the order of calls differs");
  }
  call.parts[static_cast<std::size_t>(rank)] = part;
  if (++call.arrived < size_) return;
  complete(call.parts);
  call.is_done = true;
  changed_.notify_all();
}

void FakeChannel::wait(int64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return is_broken_ || calls_[number].is_done; });
  if (!calls_[number].is_done) throw std::runtime_error("a peer is gone");
}

void FakeChannel::break_down() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_broken_ = true;
  changed_.notify_all();
}

struct FakeCommCalls {
  static FakeRank& of(const slw_host* host) { return *static_cast<FakeRank*>(host->impl); }

  static const void* get_service(const slw_host* host, const char* id) {
    return std::strcmp(id, SLW_SERVICE_COMM) == 0 ? &of(host).comm_ : nullptr;
  }

  static const slw_group* group(const slw_host* host, const char* name) {
    for (const slw_group& group : of(host).groups_) {
      if (group.name == name) return &group;
    }
    return nullptr;
  }
  static int32_t rank(const slw_group* group) { return group->rank; }
  static int32_t size(const slw_group* group) { return group->channel->size(); }
  static const int32_t* global_ranks(const slw_group* group) { return group->global_ranks.data(); }

  static slw_status launch(const slw_group* shared, const FakeChannel::Part& part, slw_work** work, slw_error* error) {
    try {
      slw_group& group = *const_cast<slw_group*>(shared);
      FakeRank& owner = *group.owner;
      const auto call = static_cast<int64_t>(owner.collectives_.size());
      if (call == owner.failing_call_) throw std::runtime_error("cable cut");
      const slw_tensor& whole = slw::numel(*part.in) > slw::numel(*part.out) ? *part.in : *part.out;
      owner.collectives_.push_back({group.name, part.operation, slw::numel(whole), slw::raw(whole), work != nullptr});
      const int64_t number = group.num_calls++;
      group.channel->post(number, group.rank, part);
      if (work == nullptr) {
        group.channel->wait(number);
      } else {
        *work = new slw_work{group.channel, number, &owner, call};
        ++owner.num_live_works_;
      }
      return SLW_OK;
    } catch (const std::exception& failure) {
      return slw::put(error, SLW_COMM, failure.what());
    }
  }
  // As Gloo.
  static slw_status only_sums(int32_t op, slw_error* error) {
    return op == SLW_SUM ? SLW_OK : slw::put(error, SLW_COMM, "this group only sums");
  }

  static slw_status all_reduce(const slw_group* group, slw_tensor* tensor, int32_t op, const slw_stream*,
                               slw_work** work, slw_error* error) {
    if (only_sums(op, error) != SLW_OK) return SLW_COMM;
    return launch(group, {FakeChannel::Operation::kAllReduce, tensor, tensor}, work, error);
  }
  static slw_status reduce_scatter(const slw_group* group, const slw_tensor* in, slw_tensor* out, int32_t op,
                                   const slw_stream*, slw_work** work, slw_error* error) {
    if (only_sums(op, error) != SLW_OK) return SLW_COMM;
    return launch(group, {FakeChannel::Operation::kReduceScatter, in, out}, work, error);
  }
  static slw_status all_gather(const slw_group* group, const slw_tensor* in, slw_tensor* out, const slw_stream*,
                               slw_work** work, slw_error* error) {
    return launch(group, {FakeChannel::Operation::kAllGather, in, out}, work, error);
  }

  static slw_status work_wait(slw_work* work, const slw_stream*, slw_error* error) {
    try {
      work->channel->wait(work->number);
      const std::lock_guard<std::mutex> lock(work->owner->mutex_);
      work->owner->waits_.push_back(work->call);
      return SLW_OK;
    } catch (const std::exception& failure) {
      return slw::put(error, SLW_COMM, failure.what());
    }
  }
  static void work_release(slw_work* work) {
    --work->owner->num_live_works_;
    delete work;
  }
};

FakeRank::FakeRank(int32_t rank) : rank_(rank), host_(*toy_.get()), comm_(slw::make<slw_comm>()) {
  host_.impl = this;
  host_.get_service = FakeCommCalls::get_service;
  host_.log = [](const slw_host*, int32_t, const char*) {};
  host_.stop_requested = [](const slw_host*) -> int32_t { return 0; };
  host_.alloc = nullptr;
  host_.free = nullptr;
  comm_.group = FakeCommCalls::group;
  comm_.rank = FakeCommCalls::rank;
  comm_.size = FakeCommCalls::size;
  comm_.global_ranks = FakeCommCalls::global_ranks;
  comm_.all_reduce = FakeCommCalls::all_reduce;
  comm_.reduce_scatter = FakeCommCalls::reduce_scatter;
  comm_.all_gather = FakeCommCalls::all_gather;
  comm_.work_wait = FakeCommCalls::work_wait;
  comm_.work_release = FakeCommCalls::work_release;
}

std::vector<int64_t> FakeRank::waits() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return waits_;
}

slw_group* FakeRank::add_group(const std::string& name, FakeChannel* channel, std::vector<int32_t> global_ranks) {
  const auto at = std::find(global_ranks.begin(), global_ranks.end(), rank_) - global_ranks.begin();
  return &groups_.emplace_back(slw_group{this, name, channel, static_cast<int32_t>(at), std::move(global_ranks)});
}

FakeWorld::FakeWorld(int32_t size, int32_t expert_size) {
  for (int32_t r = 0; r < size; ++r) ranks_.emplace_back(new FakeRank(r));
  const auto connect = [&](const std::string& name, int32_t begin, int32_t end) {
    FakeChannel* channel = &channels_.emplace_back(end - begin);
    std::vector<int32_t> members;
    for (int32_t r = begin; r < end; ++r) members.push_back(r);
    for (const int32_t r : members) rank(r).add_group(name, channel, members);
  };
  connect("dp_cp", 0, size);
  for (int32_t begin = 0; begin < size; begin += expert_size) connect("edp", begin, begin + expert_size);
}

void FakeWorld::break_down() {
  for (FakeChannel& channel : channels_) channel.break_down();
}
