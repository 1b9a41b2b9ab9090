// `slipway train` as a user starts it, with output folders that go away with the test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/run_folder.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

inline std::string manifest(const std::string& name) {
  return std::string(std::getenv("SLIPWAY_SOURCE_DIR")) + "/launcher/manifests/" + name;
}

class TrainCommand : public testing::Test {
 protected:
  ProgramResult train(const std::string& output, std::vector<std::string> options, const ProgramOptions& how = {}) {
    std::vector<std::string> command{built_program("slipway"), "train", "--output-dir", run(output).string()};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, how);
  }
  void train_well(const std::string& output, const std::vector<std::string>& options) {
    const ProgramResult result = train(output, options);
    ASSERT_EQ(result.exit_code, 0) << result.out;
  }
  fs::path run(const std::string& name) const { return folder_.path() / name; }

  std::string text_file(size_t bytes) const {
    const std::string path = (folder_.path() / "text.txt").string();
    std::ofstream file(path);
    for (size_t i = 0; i < bytes / 20; ++i) file << "the quick brown fox " << (i % 10) << "\n";
    return path;
  }

  // A run of 12 tiny steps with a checkpoint every 4.
  std::vector<std::string> tiny(int ranks = 1) const {
    return {"--manifest",       manifest("tiny.json"), "--train-iters", "12", "--save-interval", "4",
            "--nproc-per-node", std::to_string(ranks), "--cpu-threads", "1"};
  }

  TempFolder folder_;
};

// Lines in a metrics file so far.
inline size_t lines_in(const fs::path& path) {
  std::ifstream file(path);
  size_t lines = 0;
  for (std::string line; std::getline(file, line);) ++lines;
  return lines;
}

}  // namespace slipway
