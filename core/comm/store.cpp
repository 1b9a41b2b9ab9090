#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "core/base/error.h"
#include "core/comm/c10d_tools.h"
#include "core/comm/rendezvous.h"

namespace slipway {
namespace {

// c10d keeps one flight recorder a process, which two ranks in one process corrupt (LibTorch 2.11). It reads its size
// from the environment at its first use, so this has to come before any group.
void switch_off_flight_recorder() {
  static std::once_flag once;
  std::call_once(once, [] { setenv("TORCH_FR_BUFFER_SIZE", "0", 1); });
}

}  // namespace

int GroupRequest::place() const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  SLW_CHECK(found != ranks.end());
  return static_cast<int>(found - ranks.begin());
}

std::shared_ptr<RankStore> make_store(const RankEnvironment& environment, std::chrono::milliseconds timeout) {
  switch_off_flight_recorder();
  auto store = std::make_shared<RankStore>();
  if (environment.world_size == 1) {
    store->c10d = c10::make_intrusive<c10d::HashStore>();
    return store;
  }
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(environment.master_port);
  options.isServer = environment.rank == 0;
  options.numWorkers = static_cast<size_t>(environment.world_size);
  options.timeout = timeout;
  try {
    store->c10d = c10::make_intrusive<c10d::TCPStore>(environment.master_addr, options);
  } catch (const std::exception& error) {
    throw CommError("rank " + std::to_string(environment.rank) + " did not meet the other " +
                    std::to_string(environment.world_size - 1) + " ranks at " + environment.master_addr + ":" +
                    std::to_string(environment.master_port) + ": " + first_line(error));
  }
  return store;
}

}  // namespace slipway
