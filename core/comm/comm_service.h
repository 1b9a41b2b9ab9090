// The slw.comm/1 table over a Communicator. The table itself is constant; slw_host.impl finds the communicator through
// the function given here.
#pragma once

#include <slipway/services.h>

#include <exception>
#include <string>

#include "core/comm/communicator.h"

namespace slipway {

// A table whose `group` asks `find(host, name)`; the rest works on the groups it returned. Any thread.
slw_comm make_comm_service(const slw_group* (*find)(const slw_host*, const char* name));

inline const slw_group* as_slw_group(const Group* group) { return reinterpret_cast<const slw_group*>(group); }

// Writes an error into the caller's slw_error, which may be NULL, and returns `code`.
slw_status put_error(slw_error* error, slw_status code, const std::string& message) noexcept;

// Runs what a plugin called for: nothing throws across the border. A failure becomes `failure_code` with its text.
template <class Body>
slw_status status_of(slw_error* error, slw_status failure_code, Body&& body) noexcept {
  try {
    body();
    return SLW_OK;
  } catch (const std::exception& failure) {
    return put_error(error, failure_code, failure.what());
  }
}

}  // namespace slipway
