// All groups of one rank. Made in step 1, destroyed in step 5; owns every connection. Two communicators may live in one
// process (ranks as threads).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/environment.h"
#include "core/comm/group.h"
#include "core/comm/mesh.h"

namespace slipway {

class CudaLibrary;
struct RankStore;

// The GPU whose memory the groups of plugins move, over NCCL; none: host memory, over Gloo.
struct DeviceChoice {
  const CudaLibrary* cuda = nullptr;
  int device = 0;
};

class Communicator {
 public:
  // Connects all ranks and makes every group of the mesh, on all ranks in one order, with one timeout. Groups of one
  // rank need no network. [collective: world]
  Communicator(const RankEnvironment& environment, const Mesh& mesh, std::chrono::milliseconds timeout,
               const DeviceChoice& choice = {});
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The group that the core itself uses over all ranks, always for host memory; no plugin gets it, so orders never mix.
  Group& core() const { return *core_; }
  // A group for plugins by its name in slipway/services.h; nullptr: no such name. Names whose groups hold the same
  // ranks share connections.
  Group* group(const std::string& name) const;

 private:
  std::shared_ptr<RankStore> store_;  // nullptr in a world of one without a GPU; outlives the groups
  std::vector<std::unique_ptr<Group>> groups_;
  std::map<std::string, Group*> by_name_;
  Group* core_ = nullptr;
};

// Texts of all ranks, by rank. [collective: group]
std::vector<std::string> all_gather_text(Group& group, const std::string& text);
// Reduces doubles in place over the group; `op` as in Group. [collective: group]
void all_reduce(Group& group, std::vector<double>& values, int op = SLW_SUM);

}  // namespace slipway
