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

class Rendezvous;

class Communicator {
 public:
  // Connects all ranks and makes every group of the mesh, on all ranks in one order, with one timeout. Groups of one
  // rank need no network. [collective: world]
  Communicator(const RankEnvironment& environment, const Mesh& mesh, std::chrono::milliseconds timeout);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The group that the core itself uses over all ranks; no plugin gets it, so orders never mix.
  Group& core() const { return *core_; }
  // A group for plugins by its name in slipway/services.h; nullptr: no such name. Names whose groups hold the same
  // ranks share connections.
  Group* group(const std::string& name) const;

 private:
  std::unique_ptr<Rendezvous> rendezvous_;  // nullptr in a world of one; outlives the groups
  std::vector<std::unique_ptr<Group>> groups_;
  std::map<std::string, Group*> by_name_;
  Group* core_ = nullptr;
};

// Texts of all ranks, by rank. [collective: group]
std::vector<std::string> all_gather_text(Group& group, const std::string& text);
// Reduces doubles in place over the group; `op` as in Group. [collective: group]
void all_reduce(Group& group, std::vector<double>& values, int op = SLW_SUM);

}  // namespace slipway
