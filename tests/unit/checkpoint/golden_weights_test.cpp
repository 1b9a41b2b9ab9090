// The golden data's value rule and its safetensors files, each checked by the other.
#include <gtest/gtest.h>

#include "core/checkpoint/cut.h"
#include "core/checkpoint/safetensors.h"
#include "tests/support/golden_values.h"

namespace slipway {
namespace {

std::uint64_t seed_of_case(const std::filesystem::path& weights) {
  return golden::read_json(weights.parent_path() / "case.json").at("seed").get<std::uint64_t>();
}

TEST(GoldenValues, WeightsEqualTheFilesBitForBit) {
  std::size_t checked = 0;
  for (const auto& path : golden::files("megatron_*/*/weights.safetensors")) {
    const SafetensorsReader reader(path);
    for (const SafetensorsEntry& entry : reader.entries()) {
      const auto stored = reader.load_as<float>(entry.name);
      EXPECT_EQ(stored, golden::weights({entry.name, seed_of_case(path)}, stored.size())) << path << " " << entry.name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 100U);
}

TEST(GoldenValues, TokensEqualTheFiles) {
  for (const auto& path : golden::files("megatron_gpt/*/io.safetensors")) {
    const auto json = golden::read_json(path.parent_path() / "case.json");
    const std::uint64_t vocab = json.at("config").at("vocab").get<std::uint64_t>();
    const SafetensorsReader reader(path);
    const Shape shape = reader.at("tokens").shape;
    const auto row = static_cast<std::size_t>(shape.at(1)) + 1;
    const auto full = golden::ints({"tokens", json.at("seed").get<std::uint64_t>()}, vocab, shape.at(0) * row);
    const auto tokens = reader.load_as<std::int64_t>("tokens");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      ASSERT_EQ(tokens[i], full[i / (row - 1) * row + i % (row - 1)]) << path << " token " << i;
    }
  }
}

TEST(GoldenValues, FilesThatMatchNothingThrow) { EXPECT_ANY_THROW(golden::files("no_such_folder/*.json")); }

TEST(Safetensors, ReadsEveryGoldenFile) {
  for (const auto* pattern : {"*/*.safetensors", "*/*/*.safetensors"}) {
    for (const auto& path : golden::files(pattern)) {
      const SafetensorsReader reader(path);
      for (const SafetensorsEntry& entry : reader.entries()) EXPECT_EQ(reader.load(entry.name).size(), entry.bytes);
    }
  }
}

}  // namespace
}  // namespace slipway
