// A checkpoint whose files were cut short: --resume names the file and the way out, or says which other one it took.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/program.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// A run of eight steps with checkpoints of steps 4 and 8, made once; each test damages a copy.
class DamagedCheckpoint : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<TempFolder>();
    const ProgramResult made = train(shared_->path() / "run", {"--train-iters", "8"});
    ASSERT_EQ(made.exit_code, 0) << made.out;
  }
  static void TearDownTestSuite() { shared_.reset(); }

  DamagedCheckpoint() { fs::copy(shared_->path() / "run", run_, fs::copy_options::recursive); }

  static ProgramResult train(const fs::path& run, std::vector<std::string> more) {
    std::vector<std::string> command{built_program("slipway"),
                                     "train",
                                     "--manifest",
                                     std::string(std::getenv("SLIPWAY_SOURCE_DIR")) + "/launcher/manifests/tiny.json",
                                     "--output-dir",
                                     run.string(),
                                     "--save-interval",
                                     "4",
                                     "--cpu-threads",
                                     "1",
                                     "--lr-decay-iters",
                                     "12"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  }
  ProgramResult resume(int ranks = 1) const {
    return train(run_, {"--train-iters", "9", "--resume", "--nproc-per-node", std::to_string(ranks)});
  }

  fs::path checkpoints() const { return run_ / "checkpoints"; }
  void cut(const fs::path& file) const { fs::resize_file(file, fs::file_size(file) / 2); }
  void write_latest(const std::string& text) const { std::ofstream(checkpoints() / "latest") << text; }

  static std::unique_ptr<TempFolder> shared_;
  TempFolder folder_;
  fs::path run_ = folder_.path() / "run";
};
std::unique_ptr<TempFolder> DamagedCheckpoint::shared_;

class DamagedFile : public DamagedCheckpoint, public testing::WithParamInterface<const char*> {};

TEST_P(DamagedFile, IsNamedWithTheWayOut) {
  const fs::path file = checkpoints() / "step_00000008" / GetParam();
  cut(file);
  const std::string latest = (checkpoints() / "latest").string();
  const ProgramResult refused = resume();
  EXPECT_EQ(refused.exit_code, 4) << refused.out;
  EXPECT_THAT(refused.out, AllOf(HasSubstr(file.string()), HasSubstr("damaged"),
                                 HasSubstr("by writing that folder's name into " + latest)));
  write_latest("step_00000004\n");
  const ProgramResult older = resume();
  EXPECT_EQ(older.exit_code, 0) << older.out;
  EXPECT_THAT(older.out, HasSubstr("resuming after step 4 from "));
}

INSTANTIATE_TEST_SUITE_P(Files, DamagedFile,
                         testing::Values("rank_00000.safetensors", "index.json", "state.json", "checksums.txt"));

TEST_F(DamagedCheckpoint, IsToldOnceForAllRanks) {
  cut(checkpoints() / "step_00000008" / "index.json");
  const ProgramResult refused = resume(2);
  EXPECT_EQ(refused.exit_code, 4) << refused.out;
  const size_t first = refused.out.find("index.json");
  ASSERT_NE(first, std::string::npos) << refused.out;
  EXPECT_EQ(refused.out.find("index.json", first + 1), std::string::npos) << refused.out;
}

TEST_F(DamagedCheckpoint, LatestThatWasCutIsPassedOverWithALine) {
  for (const std::string text : {"", "step_0000"}) {
    write_latest(text);
    const ProgramResult found = resume();
    EXPECT_EQ(found.exit_code, 0) << found.out;
    EXPECT_THAT(found.out, AllOf(HasSubstr((checkpoints() / "latest").string() + " names \"" + text + "\""),
                                 HasSubstr("resuming after step ")));
    fs::remove_all(checkpoints() / "step_00000009");
  }
}

TEST_F(DamagedCheckpoint, WithoutLatestAnIncompleteOneIsPassedOverWithALine) {
  fs::remove(checkpoints() / "latest");
  cut(checkpoints() / "step_00000008" / "rank_00000.safetensors");
  const ProgramResult found = resume();
  EXPECT_EQ(found.exit_code, 0) << found.out;
  EXPECT_THAT(found.out, AllOf(HasSubstr("passed over " + (checkpoints() / "step_00000008").string()),
                               HasSubstr("rank_00000.safetensors"), HasSubstr("resuming after step 4 from ")));
}

}  // namespace
}  // namespace slipway
