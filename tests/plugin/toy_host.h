// A small slw_host for tests: keeps the log, counts memory, offers threads on request. Any thread.
#pragma once

#include <slipway/services.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

class ToyHost {
 public:
  // num_threads 0: no slw.threads/1 service.
  explicit ToyHost(int num_threads = 0);
  ToyHost(const ToyHost&) = delete;
  ToyHost& operator=(const ToyHost&) = delete;

  const slw_host* get() const { return &host_; }
  std::vector<std::string> log_lines() const;
  int64_t live_allocations() const { return live_allocations_; }
  void request_stop() { stop_ = true; }
  // Later calls of alloc fail.
  void exhaust_memory() { is_exhausted_ = true; }

 private:
  static const ToyHost& of(const slw_host* host) { return *static_cast<const ToyHost*>(host->impl); }
  static const void* get_service(const slw_host* host, const char* id);
  static void log(const slw_host* host, int32_t level, const char* message);
  static int32_t log_enabled(const slw_host*, int32_t) { return 1; }
  static int32_t stop_requested(const slw_host* host) { return of(host).stop_ ? 1 : 0; }
  static void* alloc(const slw_host*, slw_device, uint64_t bytes, const slw_stream*, slw_error*);
  static void free(const slw_host*, slw_device, void* memory, const slw_stream*);
  static int32_t thread_count(const slw_host* host) { return of(host).num_threads_; }
  static void parallel_for(const slw_host* host, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
                           void* context);

  int num_threads_;
  std::atomic<bool> stop_{false}, is_exhausted_{false};
  mutable std::atomic<int64_t> live_allocations_{0};
  mutable std::mutex mutex_;
  mutable std::vector<std::string> lines_;
  slw_threads threads_{};
  slw_host host_{};
};
