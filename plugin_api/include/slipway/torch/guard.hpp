// What surrounds every call into LibTorch: its exceptions become slw::Error, its work goes to the host's stream.
#pragma once

#include <c10/core/StreamGuard.h>
#include <c10/util/Exception.h>

#include <optional>
#include <slipway/torch/tensor.hpp>

SLW_SDK_BEGIN

inline slw_status torch_status(const c10::Error& error) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return SLW_OUT_OF_MEMORY;
  const std::string text = error.what_without_backtrace();
  return text.find("DefaultCPUAllocator") != std::string::npos ? SLW_OUT_OF_MEMORY : SLW_INTERNAL;
}

// Runs `body`; what LibTorch throws arrives as slw::Error without its backtrace, other exceptions as they are.
template <class Body>
auto with_torch_errors(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const c10::Error& e) {
    throw Error(torch_status(e), e.what_without_backtrace());
  }
}

// Makes the host's stream current while it lives; on the CPU there is nothing to do.
class OnStream {
 public:
  explicit OnStream(const slw_stream& stream) {
    if (stream.device.type != SLW_DEVICE_CUDA) return;
    // A stream that LibTorch did not make has its address as its id.
    const auto id = reinterpret_cast<c10::StreamId>(stream.native);
    guard_.emplace(c10::Stream(c10::Stream::UNSAFE, torch_device(stream.device), id));
  }

 private:
  std::optional<c10::StreamGuard> guard_;
};

SLW_SDK_END
