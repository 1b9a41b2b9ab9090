#include "tests/plugin/toy_host.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <slipway/sdk/structs.hpp>
#include <thread>

ToyHost::ToyHost(int num_threads) : num_threads_(num_threads) {
  threads_ = slw::make<slw_threads>();
  threads_.count = thread_count;
  threads_.parallel_for = parallel_for;
  host_ = slw::make<slw_host>();
  host_.abi_major = SLW_ABI_MAJOR;
  host_.abi_minor = SLW_ABI_MINOR;
  host_.impl = this;
  host_.name = "toy";
  host_.version = "0";
  host_.get_service = get_service;
  host_.log = log;
  host_.log_enabled = log_enabled;
  host_.stop_requested = stop_requested;
  host_.alloc = alloc;
  host_.free = free;
}

std::vector<std::string> ToyHost::log_lines() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_;
}

const void* ToyHost::get_service(const slw_host* host, const char* id) {
  const ToyHost& self = of(host);
  return self.num_threads_ > 0 && std::strcmp(id, SLW_SERVICE_THREADS) == 0 ? &self.threads_ : nullptr;
}

void ToyHost::log(const slw_host* host, int32_t, const char* message) {
  const std::lock_guard<std::mutex> lock(of(host).mutex_);
  of(host).lines_.emplace_back(message);
}

void* ToyHost::alloc(const slw_host* host, slw_device, uint64_t bytes, const slw_stream*, slw_error* error) {
  void* memory = of(host).is_exhausted_ ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == nullptr) {
    slw::put(error, SLW_OUT_OF_MEMORY, "the toy host has no memory left");
  } else {
    ++of(host).live_allocations_;
  }
  return memory;
}

void ToyHost::free(const slw_host* host, slw_device, void* memory, const slw_stream*) {
  if (memory != nullptr) --of(host).live_allocations_;
  std::free(memory);
}

void ToyHost::parallel_for(const slw_host* host, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
                           void* context) {
  const int64_t parts = std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, of(host).num_threads_);
  std::vector<std::thread> threads;
  for (int64_t p = 0; p < parts && n > 0; ++p) threads.emplace_back(body, context, n * p / parts, n * (p + 1) / parts);
  for (std::thread& thread : threads) thread.join();
}
