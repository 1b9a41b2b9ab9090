// How many threads the kernels of the calling thread may use. Recorded in the run, because it changes the bits of sums.
#pragma once

namespace slipway {

// For this thread: LibTorch, MKL and OpenMP; MKL's own choice is switched off. [each rank thread]
void set_compute_threads(int count);

// The LibTorch build this program was made with, "2.11.0+cu130".
const char* libtorch_build();

}  // namespace slipway
