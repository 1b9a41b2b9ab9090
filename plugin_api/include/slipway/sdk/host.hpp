// The host, as a plugin sees it: a value that borrows the slw_host of its instance. Any thread, where not said
// otherwise.
#pragma once

#include <slipway/services.h>
#include <atomic>
#include <memory>
#include <slipway/sdk/structs.hpp>

SLW_SDK_BEGIN

class Host {
 public:
  // REQUIRES: `host` outlives this object and its copies.
  explicit Host(const slw_host* host) : host_(host) { check_struct(host); }
  const slw_host* get() const { return host_; }

  void log(int32_t level, const std::string& line) const { host_->log(host_, level, line.c_str()); }
  void debug(const std::string& line) const { log(SLW_LOG_DEBUG, line); }
  void info(const std::string& line) const { log(SLW_LOG_INFO, line); }
  void warning(const std::string& line) const { log(SLW_LOG_WARNING, line); }
  bool log_enabled(int32_t level) const { return host_->log_enabled(host_, level) != 0; }

  bool stop_requested() const { return host_->stop_requested(host_) != 0; }
  // For long loops: throws SLW_CANCELLED when the run is asked to stop.
  void check_stop() const {
    if (stop_requested()) throw Error(SLW_CANCELLED, "the run was asked to stop");
  }

  // nullptr: this host does not offer it.
  const slw_comm* comm() const { return service<slw_comm>(SLW_SERVICE_COMM); }
  const slw_rng* rng() const { return service<slw_rng>(SLW_SERVICE_RNG); }
  const slw_metrics* metrics() const { return service<slw_metrics>(SLW_SERVICE_METRICS); }
  const slw_threads* threads() const { return service<slw_threads>(SLW_SERVICE_THREADS); }
  template <class Service>
  const Service* service(const char* id) const {
    return static_cast<const Service*>(host_->get_service(host_, id));
  }

  // Adds to a declared metric; nothing happens on a host without the service. [step]
  void deposit(const char* name, std::initializer_list<double> values) const {
    const slw_metrics* service = metrics();
    if (!SLW_HAS_FN(service, slw_metrics, deposit)) return;
    const int32_t count = static_cast<int32_t>(values.size());
    call([&](slw_error* e) { return service->deposit(host_, name, values.begin(), count, e); });
  }

  // How many threads parallel_for uses at most.
  int32_t num_threads() const {
    const slw_threads* service = threads();
    return SLW_HAS_FN(service, slw_threads, count) ? std::max(1, service->count(host_)) : 1;
  }

  // Calls body(begin, end) for parts that cover [0, n); see slw_threads. On a host without the service: one part, here.
  // The first exception of a part is thrown on when all are done. [step]
  template <class Body>
  void parallel_for(int64_t n, int64_t grain, Body&& body) const {
    const slw_threads* service = threads();
    if (!SLW_HAS_FN(service, slw_threads, parallel_for)) {
      if (n > 0) body(int64_t{0}, n);
      return;
    }
    Part<std::remove_reference_t<Body>> part{&body, {}, {}};
    service->parallel_for(host_, n, grain, &decltype(part)::run, &part);
    if (part.failure) std::rethrow_exception(part.failure);
  }

 private:
  template <class Body>
  struct Part {
    Body* body;
    std::atomic<bool> failed;
    std::exception_ptr failure;

    static void run(void* context, int64_t begin, int64_t end) noexcept {
      Part* self = static_cast<Part*>(context);
      try {
        (*self->body)(begin, end);
      } catch (...) {
        if (!self->failed.exchange(true)) self->failure = std::current_exception();
      }
    }
  };

  const slw_host* host_;
};

// Memory from the host, which counts it; 64-byte aligned, not zeroed. Freed in the destructor.
class HostMemory {
 public:
  HostMemory(const Host& host, uint64_t bytes, slw_device device = {SLW_DEVICE_CPU, 0},
             const slw_stream* stream = nullptr)
      : host_(host.get()), device_(device) {
    call([&](slw_error* e) {
      data_ = host_->alloc(host_, device_, bytes, stream, e);
      return data_ != nullptr || bytes == 0 ? SLW_OK : SLW_OUT_OF_MEMORY;
    });
  }
  ~HostMemory() {
    if (data_ != nullptr) host_->free(host_, device_, data_, nullptr);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  void* get() const { return data_; }

 private:
  const slw_host* host_;
  slw_device device_;
  void* data_ = nullptr;
};

SLW_SDK_END
