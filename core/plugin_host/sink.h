// Lets a plugin call back into C++ code of the core: exceptions become statuses at the edge.
#pragma once

#include "core/comm/comm_service.h"

namespace slipway {

// Runs `body`; what it throws is put into `error`.
template <class Body>
slw_status sink_guard(slw_error* error, Body&& body) noexcept {
  return status_of(error, SLW_INVALID_ARGUMENT, body);
}

}  // namespace slipway
