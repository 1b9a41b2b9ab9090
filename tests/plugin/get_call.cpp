#include "tests/plugin/get_call.h"

#include <algorithm>

GetCall::GetCall(const std::vector<FieldSpec>& fields, std::vector<int64_t> indices) : indices_(std::move(indices)) {
  for (const FieldSpec& field : fields) {
    std::vector<int64_t> shape = field.shape;
    shape.insert(shape.begin(), static_cast<int64_t>(indices_.size()));
    int64_t bytes = slw::dtype_bytes(field.dtype);
    for (const int64_t size : shape) bytes *= size;
    std::vector<unsigned char> memory(static_cast<std::size_t>(bytes) + kCanaryBytes, kFill);
    auto view = std::make_unique<slw::View>(memory.data(), field.dtype, shape);
    buffers_.push_back({field.name, std::move(memory), std::move(view)});
    outs_.push_back(buffers_.back().view->get());
  }
  args_.indices = indices_.data();
  args_.n = static_cast<int64_t>(indices_.size());
  args_.num_fields = static_cast<uint32_t>(outs_.size());
  args_.outs = outs_.data();
}

Samples GetCall::samples() const {
  Samples samples;
  for (const Buffer& buffer : buffers_) {
    samples[buffer.name].assign(buffer.memory.begin(), buffer.memory.end() - kCanaryBytes);
  }
  return samples;
}

bool GetCall::canaries_alive() const {
  return std::all_of(buffers_.begin(), buffers_.end(), [](const Buffer& buffer) {
    return std::all_of(buffer.memory.end() - kCanaryBytes, buffer.memory.end(),
                       [](auto byte) { return byte == kFill; });
  });
}
