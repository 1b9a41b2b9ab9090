// All groups of one rank. Made in step 1, destroyed in step 5; owns every connection. Two communicators may live in one
// process (ranks as threads).
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/comm/environment.h"
#include "core/comm/group.h"
#include "core/comm/mesh.h"
#include "core/comm/traced_group.h"

namespace slipway {

class CudaLibrary;
class Watchdog;
struct RankStore;

// The GPU whose memory the groups of plugins move, over NCCL; none: host memory, over Gloo.
struct DeviceChoice {
  const CudaLibrary* cuda = nullptr;
  int device = 0;
};

class Communicator {
 public:
  // Connects all ranks and makes every group of the mesh, on all ranks in one order, with one timeout. Groups of one
  // rank need no network and leave no trace. `watch` may be empty; its on_failure is also told of a call that does not
  // end within the timeout and two seconds. [collective: world]
  Communicator(const RankEnvironment& environment, const Mesh& mesh, std::chrono::milliseconds timeout,
               const DeviceChoice& choice = {}, CommWatch watch = {});
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // The group that the core itself uses over all ranks, always for host memory; no plugin gets it, so orders never mix.
  Group& core() const { return *core_; }
  // The same for the parts of the world that the core itself works in: pp, embd, tp, tp_pp, dp_cp. This rank's group
  // of that kind; nullptr: it is in none (embd).
  Group* core(const std::string& name) const;
  // A group for plugins by its name in slipway/services.h; nullptr: no such name. Names whose groups hold the same
  // ranks share connections.
  Group* group(const std::string& name) const;
  // What this rank calls on its groups; a group that serves several names bears the one that was made first.
  CollectiveTrace& trace() const { return *watch_.trace; }

 private:
  CommWatch watch_;
  std::shared_ptr<RankStore> store_;  // nullptr in a world of one without a GPU; outlives the groups
  std::vector<std::unique_ptr<Group>> groups_;
  std::map<std::string, Group*> by_name_, core_by_name_;
  Group* core_ = nullptr;
  std::unique_ptr<Watchdog> watchdog_;  // nullptr: one rank, or nobody to tell; ends before the groups
};

// Texts of all ranks, by rank. [collective: group]
std::vector<std::string> all_gather_text(Group& group, const std::string& text);
// Reduces doubles in place over the group; `op` as in Group. [collective: group]
void all_reduce(Group& group, std::vector<double>& values, int op = SLW_SUM);
// The values of the group's rank `root`, as many on every rank. [collective: group]
void broadcast(Group& group, std::vector<double>& values, int root);
void broadcast(Group& group, std::span<float> values, int root);
// Reduces floats in place over the group. [collective: group]
void all_reduce(Group& group, std::span<float> values, int op = SLW_SUM);

}  // namespace slipway
