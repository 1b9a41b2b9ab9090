#include <filesystem>
#include <string>
#include <vector>

#include "launcher/program.h"

int main(int argc, char** argv) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  slipway::Worker worker;
  worker.path = (self.parent_path() / "slipway-worker").string();
  return slipway::run_program(std::vector<std::string>(argv + 1, argv + argc), worker);
}
