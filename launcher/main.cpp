#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "launcher/program.h"

namespace {

// How long a compute thread spins before it sleeps at the end of a parallel region. LibTorch's OpenMP spins for
// milliseconds by default, and when other programs want the cores too, each of thousands of regions then costs a time
// slice. Read when LibTorch is loaded, so it has to be set before the worker starts.
void limit_spinning() {
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", "1000", 0);
}

}  // namespace

int main(int argc, char** argv) {
  limit_spinning();
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  slipway::Worker worker;
  worker.path = (self.parent_path() / "slipway-worker").string();
  return slipway::run_program(std::vector<std::string>(argv + 1, argv + argc), worker);
}
