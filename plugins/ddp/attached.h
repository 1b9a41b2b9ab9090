// The memory that the host allocated for a layout. Pure functions; any thread.
#pragma once

#include "plugins/ddp/layout.h"
#include "plugins/ddp/shards.h"

namespace ddp {

// One of the two tensors of every buffer.
struct Half {
  const char* name;
  slw_tensor slw_buffer::*tensor;
  slw_dtype Buffer::*dtype;
};
inline constexpr Half kGradients{"gradients", &slw_buffer::grad, &Buffer::grad};
inline constexpr Half kParameters{"parameters", &slw_buffer::param, &Buffer::param};

// Throws slw::Error when the buffers are not what the layout asked for.
void check_attached(const Layout& layout, const slw_attach_args& args, const Half& half);

// Elements of a 1-D tensor, which outlives the view's users.
slw::View slice(const slw_tensor& tensor, Range range);

}  // namespace ddp
