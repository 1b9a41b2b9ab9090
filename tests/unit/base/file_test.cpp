#include "core/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::HasSubstr;

std::string message_of(const std::function<void()>& action, ExitCode code) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::size_t num_entries(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()));
}

TEST(File, WrittenBytesAreReadBack) {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.bin").string();
  const std::string bytes = std::string("x\0y\n", 4) + std::string(200000, 'z');
  write_file_atomic(path, bytes, ExitCode::kData);
  EXPECT_EQ(read_file(path, ExitCode::kData), bytes);
  EXPECT_EQ(file_bytes(path, ExitCode::kData), bytes.size());
  EXPECT_EQ(num_entries(folder.path()), 1u);
}

TEST(File, MissingFileNamesPathReasonAndSubject) {
  const std::string text = message_of([] { read_file("/nowhere/x.txt", ExitCode::kData); }, ExitCode::kData);
  EXPECT_EQ(text, "cannot read /nowhere/x.txt: No such file or directory");
}

TEST(File, FolderIsNoFile) {
  const TempFolder folder;
  const std::string path = folder.path().string();
  EXPECT_THAT(message_of([&] { read_file(path, ExitCode::kUsage); }, ExitCode::kUsage), HasSubstr("Is a directory"));
  EXPECT_THAT(message_of([&] { file_bytes(path, ExitCode::kUsage); }, ExitCode::kUsage), HasSubstr("regular file"));
}

TEST(File, UncommittedFileLeavesOldContentAndNoRest) {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.txt").string();
  write_file_atomic(path, "old", ExitCode::kCheckpoint);
  {
    AtomicFile file(path, ExitCode::kCheckpoint);
    file.write("new");
    EXPECT_EQ(read_file(path, ExitCode::kCheckpoint), "old");
  }
  EXPECT_EQ(read_file(path, ExitCode::kCheckpoint), "old");
  EXPECT_EQ(num_entries(folder.path()), 1u);
}

TEST(File, CommitReplacesAndKeepsUsualRights) {
  const TempFolder folder;
  const std::string path = (folder.path() / "a.txt").string();
  write_file_atomic(path, "old", ExitCode::kCheckpoint);
  write_file_atomic(path, "new", ExitCode::kCheckpoint);
  EXPECT_EQ(read_file(path, ExitCode::kCheckpoint), "new");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IRUSR, 0u);
  EXPECT_EQ(info.st_mode & S_IXUSR, 0u);
}

TEST(File, FoldersAreMadeWithParentsAndOnlyAboveFolders) {
  const TempFolder folder;
  const std::string nested = (folder.path() / "a/b/c").string();
  make_dirs(nested, ExitCode::kCheckpoint);
  make_dirs(nested, ExitCode::kCheckpoint);
  EXPECT_TRUE(std::filesystem::is_directory(nested));
  const std::string file = (folder.path() / "file").string();
  write_file_atomic(file, "", ExitCode::kCheckpoint);
  for (const std::string& path : {file, file + "/below"}) {
    const std::string text = message_of([&] { make_dirs(path, ExitCode::kCheckpoint); }, ExitCode::kCheckpoint);
    EXPECT_THAT(text, HasSubstr("cannot make the folder " + path));
  }
  EXPECT_THAT(message_of([&] { write_file_atomic(file + "/x", "", ExitCode::kData); }, ExitCode::kData),
              HasSubstr("cannot write " + file + "/x"));
}

}  // namespace
}  // namespace slipway
