// Against the published vectors of Random123 (kat_vectors: philox4x32, 10 rounds).
#include <gtest/gtest.h>
#include <slipway/philox.h>

#include <array>
#include <set>
#include <vector>

namespace {

using Lanes = std::array<uint32_t, 4>;

Lanes philox(uint64_t key, const Lanes& counter) {
  const slw_philox_block block = slw_philox(key, counter[0], counter[1], counter[2], counter[3]);
  return {block.lane[0], block.lane[1], block.lane[2], block.lane[3]};
}

TEST(Philox, GivesThePublishedNumbers) {
  EXPECT_EQ(philox(0, {0, 0, 0, 0}), (Lanes{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox(~uint64_t{0}, {kOnes, kOnes, kOnes, kOnes}),
            (Lanes{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox(0x299f31d0a4093822, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Lanes{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, KeysDifferBySeedPurposeAndName) {
  const std::set<uint64_t> keys{slw_philox_key(1, "init", "a"), slw_philox_key(2, "init", "a"),
                                slw_philox_key(1, "dropout", "a"), slw_philox_key(1, "init", "b"),
                                slw_philox_key(1, "a", "init")};
  EXPECT_EQ(keys.size(), 5u);
}

// Frozen with the ABI: a change would change every initial weight. The numbers come from an independent program:
// Python integers modulo 2^64.
TEST(Philox, KeyIsFrozen) {
  EXPECT_EQ(slw_fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(slw_fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(slw_philox_key(1234, "init", "decoder.layers.0.mlp.linear_fc1.weight"), 0xa2fdf6613fb1f949u);
}

TEST(Philox, UniformIsInsideTheUnitInterval) {
  EXPECT_GT(slw_uniform(0), 0.0);
  EXPECT_LT(slw_uniform(0xffffffff), 1.0);
  EXPECT_EQ(slw_dropout_threshold(0.5), 0x80000000u);
}

}  // namespace
