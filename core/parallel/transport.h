// Moves activations and their gradients between the pipeline ranks of one step. Receives are posted early and waited
// for when they are needed; what was sent is freed as soon as it has left. One driver thread.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "core/comm/group.h"
#include "core/parallel/activations.h"
#include "core/parallel/schedule/transfers.h"

namespace slipway {

class Transport {
 public:
  explicit Transport(Group& pipeline) : pipeline_(pipeline) {}
  // Nothing may be under way when it ends, except after an error.
  ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // What a pass made and a later batch sends.
  void put(TransferWhat what, int32_t chunk, int32_t microbatch, Activations made);
  // What has arrived for a pass. Waits for it.
  Activations take(TransferWhat what, int32_t chunk, int32_t microbatch);

  // The batch begins and ends; between them its transfers, in order.
  void begin();
  void send(const Transfer& transfer);
  // `into` is filled.
  void receive(const Transfer& transfer, Activations into);
  void end();

  // Waits for everything that was sent.
  void finish();

 private:
  using Key = std::tuple<TransferWhat, int32_t, int32_t>;
  struct Moving {
    Activations data;
    std::vector<WorkPtr> works;
    std::shared_ptr<Work> batch;
  };
  static Key key_of(const Transfer& transfer) { return {transfer.what, transfer.chunk, transfer.microbatch}; }
  static void wait(Moving& moving);
  void free_sent();

  Group& pipeline_;
  std::map<Key, Activations> made_;
  std::map<Key, Moving> arriving_;
  std::vector<Moving> leaving_;
  std::vector<Key> batch_receives_;
  size_t batch_sends_ = 0;
};

}  // namespace slipway
