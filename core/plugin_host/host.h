// What a plugin's instance gets to see of the core: slw_host and its services. One per rank; outlives every instance
// made with it. Callbacks may come from any thread.
#pragma once

#include <slipway/services.h>

#include <atomic>
#include <cstdint>

#include "core/base/log.h"
#include "core/comm/communicator.h"
#include "core/plugin_host/metric_store.h"

namespace slipway {

// A host without services, for `init` and for tools that only describe.
class BareHost {
 public:
  BareHost();
  const slw_host* get() const { return &host_; }

 private:
  slw_host host_;
};

class Host {
 public:
  struct Services {
    Log* log = nullptr;            // NULL: messages are dropped
    Communicator* comm = nullptr;  // NULL: no slw.comm/1
    uint64_t seed = 0;
    int compute_threads = 1;
    const std::atomic<bool>* stop = nullptr;
  };
  explicit Host(const Services& services);
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const slw_host* get() const { return &host_; }
  MetricStore& metrics() { return metrics_; }
  const Services& services() const { return services_; }
  // Bytes that plugins hold through slw_host.alloc.
  int64_t plugin_bytes() const { return plugin_bytes_.load(); }

 private:
  friend struct HostCallbacks;

  Services services_;
  MetricStore metrics_;
  slw_comm comm_;
  slw_rng rng_;
  slw_metrics metrics_service_;
  slw_threads threads_;
  std::atomic<int64_t> plugin_bytes_{0};
  slw_host host_;
};

}  // namespace slipway
