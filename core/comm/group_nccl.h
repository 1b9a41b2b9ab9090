// NCCL groups, inside the CUDA library.
#pragma once

#include <memory>

#include "core/comm/c10d_tools.h"
#include "core/comm/rendezvous.h"

namespace slipway {

// Connects at once, so that a group that cannot be made fails here. Throws CommError. [collective: request.ranks]
std::unique_ptr<Group> connect_nccl_group(const RankStore& store, const GroupRequest& request, int device);

}  // namespace slipway
