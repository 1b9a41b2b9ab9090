// How ranks find each other and become groups. One implementation: Gloo over a TCP store (group_gloo.cpp).
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "core/comm/environment.h"
#include "core/comm/group.h"
#include "core/comm/mesh.h"

namespace slipway {

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  // REQUIRES: every rank of `ranks` makes its groups in the same order. [collective: ranks]
  virtual std::unique_ptr<Group> make_group(const std::string& name, const RankList& ranks) = 0;
};

// Rank 0 listens at master_addr:master_port. Throws CommError naming the address when ranks do not meet within
// `timeout`. [collective: world]
std::unique_ptr<Rendezvous> make_gloo_rendezvous(const RankEnvironment& environment, std::chrono::milliseconds timeout);

}  // namespace slipway
