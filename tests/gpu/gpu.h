// What tests on a GPU share. A test without a GPU says "no GPU found" and is skipped.
#pragma once

#include <gtest/gtest.h>
#include <slipway/base.h>

#include <cstdint>
#include <vector>

#include "core/comm/cuda_library.h"

namespace slipway {

// The library of this build tree.
const CudaLibrary& cuda_library();

// Skips each test where there is no GPU.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override;
};

// Floats in the memory of a GPU.
class DeviceFloats {
 public:
  DeviceFloats(int device, const std::vector<float>& values);
  ~DeviceFloats();
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;

  const slw_tensor& tensor() const { return tensor_; }
  float* data() const { return static_cast<float*>(tensor_.data); }
  // Waits for everything on the device.
  std::vector<float> read() const;

 private:
  int device_;
  int64_t shape_, stride_ = 1;
  slw_tensor tensor_{};
};

}  // namespace slipway
