// How ranks find each other and become groups: a TCP store (store.cpp), then Gloo for host memory (group_gloo.cpp) or
// NCCL for device memory (group_nccl.cpp, in the CUDA library).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/comm/environment.h"
#include "core/comm/group.h"
#include "core/comm/mesh.h"

namespace slipway {

struct RankStore;  // c10d_tools.h

// One group to make. Every rank of `ranks` makes its groups in the same order.
struct GroupRequest {
  std::string name;
  RankList ranks;  // global
  int rank = 0;    // this one, global; one of `ranks`
  std::chrono::milliseconds timeout{0};

  // Place of `rank` in `ranks`.
  int place() const;
};

// Rank 0 listens at master_addr:master_port; a world of one needs no network. Throws CommError naming the address when
// ranks do not meet within `timeout`. [collective: world]
std::shared_ptr<RankStore> make_store(const RankEnvironment& environment, std::chrono::milliseconds timeout);

// Over loopback when the store is there, else over GLOO_SOCKET_IFNAME or this host's own address. [collective: ranks]
std::unique_ptr<Group> make_gloo_group(const RankStore& store, const RankEnvironment& environment,
                                       const GroupRequest& request);

}  // namespace slipway
