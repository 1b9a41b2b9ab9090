// The norm on a GPU against the CPU's.
#include "core/optim/norm_cuda.h"

#include <cuda_runtime_api.h>

#include <random>

#include "core/optim/norm.h"
#include "tests/gpu/gpu.h"

namespace slipway {
namespace {

class NormCuda : public GpuTest {
 protected:
  static double on_gpu(const std::vector<float>& values) {
    const DeviceFloats device(0, values);
    void *workspace = nullptr, *result = nullptr;
    double norm = -1;
    cudaMalloc(&workspace, static_cast<size_t>(norm_workspace_doubles()) * sizeof(double));
    cudaMalloc(&result, sizeof(double));
    EXPECT_EQ(sum_of_squares_cuda(device.data(), static_cast<int64_t>(values.size()), static_cast<double*>(workspace),
                                  static_cast<double*>(result), nullptr),
              0);
    cudaMemcpy(&norm, result, sizeof(double), cudaMemcpyDeviceToHost);
    cudaFree(workspace);
    cudaFree(result);
    return norm;
  }
};

TEST_F(NormCuda, EqualsTheCpusAndRepeatsItself) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  for (const size_t n : {size_t{0}, size_t{1}, size_t{255}, size_t{131073}, size_t{5'000'000}}) {
    std::vector<float> values(n);
    for (float& value : values) value = normal(random);
    const std::span<const float> span(values);
    const double expected = sum_of_squares({&span, 1}, 1).value;
    const double first = on_gpu(values);
    EXPECT_NEAR(first, expected, 1e-12 * expected);
    EXPECT_EQ(on_gpu(values), first);
  }
}

}  // namespace
}  // namespace slipway
