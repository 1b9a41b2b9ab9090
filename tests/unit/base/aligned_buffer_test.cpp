#include "core/base/aligned_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace slipway {
namespace {

class Sizes : public testing::TestWithParam<std::size_t> {};

TEST_P(Sizes, IsAlignedZeroedAndWritable) {
  const AlignedBuffer buffer(GetParam());
  EXPECT_EQ(buffer.bytes(), GetParam());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % AlignedBuffer::kAlignment, 0u);
  const auto bytes = buffer.as<unsigned char>();
  EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(), [](unsigned char b) { return b == 0; }));
  std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(255));
}

INSTANTIATE_TEST_SUITE_P(AlignedBuffer, Sizes,
                         testing::Values(1, 63, 64, 4096, AlignedBuffer::kMappedBytes - 1, AlignedBuffer::kMappedBytes,
                                         AlignedBuffer::kMappedBytes + 5));

TEST(AlignedBuffer, MovesAndFreesOnce) {
  for (const std::size_t bytes : {std::size_t{100}, AlignedBuffer::kMappedBytes}) {
    AlignedBuffer a(bytes);
    a.as<char>()[7] = 'x';
    AlignedBuffer b(std::move(a));
    EXPECT_EQ(a.data(), nullptr);  // NOLINT(bugprone-use-after-move): what a move leaves behind is promised
    EXPECT_EQ(a.bytes(), 0u);
    AlignedBuffer c(50, AlignedBuffer::Fill::kUninitialized);
    c = std::move(b);
    EXPECT_EQ(c.bytes(), bytes);
    EXPECT_EQ(c.as<char>()[7], 'x');
  }
}

TEST(AlignedBuffer, EmptyHasNoMemory) {
  EXPECT_EQ(AlignedBuffer().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).data(), nullptr);
}

TEST(AlignedBuffer, RefusedMemoryIsAnErrorWithItsSize) {
  EXPECT_THROW(const AlignedBuffer refused(std::numeric_limits<std::size_t>::max()), Error);
  try {
    const AlignedBuffer refused(std::size_t{1} << 52);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4.0 PiB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace slipway
