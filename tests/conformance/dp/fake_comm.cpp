#include "tests/conformance/dp/fake_comm.h"

#include <cstring>
#include <stdexcept>

namespace {

// In rank order, so that the result does not depend on who came when.
void sum(const std::vector<slw_tensor*>& tensors) {
  const int64_t n = slw::numel(*tensors[0]);
  for (int64_t i = 0; i < n; ++i) {
    float total = 0.0f;
    for (const slw_tensor* tensor : tensors) total += slw::data<float>(*tensor)[i];
    for (const slw_tensor* tensor : tensors) slw::data<float>(*tensor)[i] = total;
  }
}

}  // namespace

void FakeChannel::post(int64_t number, int32_t rank, slw_tensor* tensor) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Call& call = calls_[number];
  call.tensors.resize(static_cast<std::size_t>(size_));
  for (const slw_tensor* other : call.tensors) {
    if (other == nullptr || slw::numel(*other) == slw::numel(*tensor)) continue;
    throw std::runtime_error("ranks disagree on the size of an all_reduce: the order of calls differs");
  }
  call.tensors[static_cast<std::size_t>(rank)] = tensor;
  if (++call.arrived < size_) return;
  sum(call.tensors);
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

  static slw_status all_reduce(const slw_group* shared, slw_tensor* tensor, int32_t op, const slw_stream*,
                               slw_work** work, slw_error* error) {
    try {
      slw_group& group = *const_cast<slw_group*>(shared);
      FakeRank& owner = *group.owner;
      if (op != SLW_SUM || !slw::is_contiguous(*tensor)) throw std::runtime_error("not a sum of contiguous memory");
      if (static_cast<int64_t>(owner.reductions_.size()) == owner.failing_call_) throw std::runtime_error("cable cut");
      owner.reductions_.push_back({group.name, slw::numel(*tensor), slw::raw(*tensor), work != nullptr});
      const int64_t number = group.num_calls++;
      group.channel->post(number, group.rank, tensor);
      if (work == nullptr) {
        group.channel->wait(number);
      } else {
        *work = new slw_work{group.channel, number, &owner};
        ++owner.num_live_works_;
      }
      return SLW_OK;
    } catch (const std::exception& failure) {
      return slw::put(error, SLW_COMM, failure.what());
    }
  }

  static slw_status work_wait(slw_work* work, const slw_stream*, slw_error* error) {
    try {
      work->channel->wait(work->number);
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
  comm_.work_wait = FakeCommCalls::work_wait;
  comm_.work_release = FakeCommCalls::work_release;
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
