#include "core/plugin_host/host.h"

#include <slipway/philox.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/comm/comm_service.h"
#include "core/plugin_host/sink.h"

namespace slipway {

// The C functions behind the tables. Nothing throws out of them.
struct HostCallbacks {
  static Host& self(const slw_host* host) { return *static_cast<Host*>(host->impl); }

  static const void* get_service(const slw_host* host, const char* id) {
    Host& me = self(host);
    const std::string_view name = id == nullptr ? "" : id;
    if (name == SLW_SERVICE_COMM) return me.services_.comm == nullptr ? nullptr : &me.comm_;
    if (name == SLW_SERVICE_RNG) return &me.rng_;
    if (name == SLW_SERVICE_METRICS) return &me.metrics_service_;
    if (name == SLW_SERVICE_THREADS) return &me.threads_;
    return nullptr;
  }

  static LogLevel level_of(int32_t level) {
    return static_cast<LogLevel>(std::clamp<int32_t>(level, SLW_LOG_DEBUG, SLW_LOG_ERROR));
  }
  static void log(const slw_host* host, int32_t level, const char* message) {
    if (self(host).services_.log != nullptr && message != nullptr)
      self(host).services_.log->write(level_of(level), message);
  }
  static int32_t log_enabled(const slw_host* host, int32_t level) {
    return self(host).services_.log != nullptr && self(host).services_.log->enabled(level_of(level)) ? 1 : 0;
  }
  static int32_t stop_requested(const slw_host* host) {
    const auto* stop = self(host).services_.stop;
    return stop != nullptr && stop->load(std::memory_order_relaxed) ? 1 : 0;
  }

  // The size stands in front of the block, so that free can count it.
  static constexpr size_t kFront = 64;
  static void* alloc(const slw_host* host, slw_device device, uint64_t bytes, const slw_stream*, slw_error* error) {
    if (device.type != SLW_DEVICE_CPU) {
      put_error(error, SLW_UNSUPPORTED, "this host has no memory on device type " + std::to_string(device.type));
      return nullptr;
    }
    const uint64_t total = (bytes + kFront + 63) / 64 * 64;
    void* block = total < bytes ? nullptr : std::aligned_alloc(64, total);
    if (block == nullptr) {
      put_error(error, SLW_OUT_OF_MEMORY, "no memory for " + std::to_string(bytes) + " bytes");
      return nullptr;
    }
    std::memcpy(block, &bytes, sizeof(bytes));
    self(host).plugin_bytes_ += static_cast<int64_t>(bytes);
    return static_cast<char*>(block) + kFront;
  }
  static void free(const slw_host* host, slw_device, void* memory, const slw_stream*) {
    if (memory == nullptr) return;
    void* block = static_cast<char*>(memory) - kFront;
    uint64_t bytes = 0;
    std::memcpy(&bytes, block, sizeof(bytes));
    self(host).plugin_bytes_ -= static_cast<int64_t>(bytes);
    std::free(block);
  }

  static const slw_group* group(const slw_host* host, const char* name) {
    return as_slw_group(self(host).services_.comm->group(name == nullptr ? "" : name));
  }
  static uint64_t key(const slw_host* host, const char* purpose, const char* name) {
    return slw_philox_key(self(host).services_.seed, purpose, name);
  }
  static slw_status deposit(const slw_host* host, const char* name, const double* values, int32_t count,
                            slw_error* error) {
    return sink_guard(error, [&] { self(host).metrics_.deposit(name == nullptr ? "" : name, values, count); });
  }

  static int32_t thread_count(const slw_host* host) { return self(host).services_.compute_threads; }
  static void parallel_for(const slw_host* host, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
                           void* context) {
    if (n <= 0) return;
    const int64_t most = std::max<int64_t>(1, n / std::max<int64_t>(grain, 1));
    const int64_t parts = std::clamp<int64_t>(thread_count(host), 1, most);
    const int64_t length = (n + parts - 1) / parts;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts)) if (parts > 1)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t begin = part * length;
      if (begin < n) body(context, begin, std::min(n, begin + length));
    }
  }
};

namespace {

slw_host empty_host() {
  slw_host host{};
  host.struct_size = SLW_SIZE_TO(slw_host, free);
  host.abi_major = SLW_ABI_MAJOR;
  host.abi_minor = SLW_ABI_MINOR;
  host.name = "slipway";
  host.version = SLIPWAY_VERSION;
  return host;
}

}  // namespace

BareHost::BareHost() : host_(empty_host()) {
  host_.get_service = [](const slw_host*, const char*) -> const void* { return nullptr; };
  host_.log = [](const slw_host*, int32_t, const char*) {};
  host_.log_enabled = [](const slw_host*, int32_t) -> int32_t { return 0; };
  host_.stop_requested = [](const slw_host*) -> int32_t { return 0; };
  host_.alloc = [](const slw_host*, slw_device, uint64_t, const slw_stream*, slw_error* error) -> void* {
    put_error(error, SLW_PRECONDITION, "memory is for instances; init has none");
    return nullptr;
  };
  host_.free = [](const slw_host*, slw_device, void*, const slw_stream*) {};
}

Host::Host(const Services& services)
    : services_(services),
      comm_(make_comm_service(HostCallbacks::group)),
      rng_{},
      metrics_service_{},
      threads_{},
      host_(empty_host()) {
  rng_ = {SLW_SIZE_TO(slw_rng, key), 0, HostCallbacks::key};
  metrics_service_ = {SLW_SIZE_TO(slw_metrics, deposit), 0, HostCallbacks::deposit};
  threads_ = {SLW_SIZE_TO(slw_threads, parallel_for), 0, HostCallbacks::thread_count, HostCallbacks::parallel_for};
  host_.impl = this;
  host_.get_service = HostCallbacks::get_service;
  host_.log = HostCallbacks::log;
  host_.log_enabled = HostCallbacks::log_enabled;
  host_.stop_requested = HostCallbacks::stop_requested;
  host_.alloc = HostCallbacks::alloc;
  host_.free = HostCallbacks::free;
}

}  // namespace slipway
