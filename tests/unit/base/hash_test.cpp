#include "core/base/hash.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

// Test vectors of FIPS 180-2 and of the xxHash specification.
TEST(Hash, KnownValues) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex64(xxh3_64("", 0)), "2d06800538d394c2");
}

TEST(Hash, FileHashesLikeItsBytes) {
  const TempFolder folder;
  const std::string path = (folder.path() / "big").string();
  std::string bytes;
  for (int i = 0; i < 3000000; ++i) bytes += static_cast<char>(i * 7);
  write_file_atomic(path, bytes, ExitCode::kData);
  EXPECT_EQ(sha256_hex_of_file(path, ExitCode::kData), sha256_hex(bytes));
  EXPECT_EQ(xxh3_64_of_file(path, ExitCode::kData), xxh3_64(bytes.data(), bytes.size()));
}

TEST(Hash, UnreadableFileIsAnError) {
  const TempFolder folder;
  EXPECT_THROW(sha256_hex_of_file("/nowhere/x", ExitCode::kPlugin), Error);
  EXPECT_THROW(xxh3_64_of_file(folder.path().string(), ExitCode::kData), Error);
}

}  // namespace
}  // namespace slipway
