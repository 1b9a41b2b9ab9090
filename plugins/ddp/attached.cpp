#include "plugins/ddp/attached.h"

namespace ddp {

void check_attached(const Layout& layout, const slw_attach_args& args, const Half& half) {
  if (args.num_buffers != layout.buffers.size()) {
    throw slw::Error(SLW_INVALID_ARGUMENT,
                     slw::cat("attach got ", args.num_buffers, " buffers, planned were ", layout.buffers.size()));
  }
  for (std::uint32_t id = 0; id < args.num_buffers; ++id) {
    const Buffer& planned = layout.buffers[id];
    const slw_buffer& buffer = *args.buffers[id];
    const slw_tensor& tensor = buffer.*half.tensor;
    const bool is_flat = tensor.ndim == 1 && tensor.shape[0] == planned.numel && slw::is_contiguous(tensor);
    const bool fits = is_flat && slw::same_dtype(tensor.dtype, planned.*half.dtype) && tensor.data != nullptr;
    if (fits && buffer.id == static_cast<std::int32_t>(id)) continue;
    throw slw::Error(SLW_INVALID_ARGUMENT,
                     slw::cat("buffer ", buffer.id, " at place ", id, " has ", half.name, " ", slw::describe(tensor),
                              ", planned was ", slw::dtype_name(planned.*half.dtype), " [", planned.numel, "]"));
  }
}

slw::View slice(const slw_tensor& tensor, Range range) {
  char* first = static_cast<char*>(slw::raw(tensor)) + range.begin * slw::dtype_bytes(tensor.dtype);
  return slw::View(first, tensor.dtype, {range.end - range.begin}, tensor.device);
}

}  // namespace ddp
