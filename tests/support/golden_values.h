// The golden reference data: where it lies, and the rule that makes the weights, tokens and gradients of its cases
// (README.md of the golden folder, "Value rule"). Pure functions of their arguments, the file system and the
// environment; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace slipway::golden {

// A stream of the rule, by name and seed.
struct Stream {
  std::string_view name;
  std::uint64_t seed = 0;
};

// float32((u - 2^23) * (half / 2^23) + center) for the first `count` numbers of the stream.
struct Range {
  double half = 0.0;
  double center = 0.0;
};
std::vector<float> values(Stream stream, Range range, std::size_t count);

// u mod `modulus` for the first `count` numbers of the stream.
std::vector<std::int64_t> ints(Stream stream, std::uint64_t modulus, std::size_t count);

// The range of a weight by its parameter name in Megatron-core's state dict.
Range weight_range(std::string_view parameter);

// The weights of a case: values(name and seed of the case, weight_range(name)).
std::vector<float> weights(Stream parameter, std::size_t count);

// The golden folder: SLIPWAY_GOLDEN_DIR when set, else tests/data/golden of the source tree. Throws when it is not
// there.
std::filesystem::path folder();

// The files below folder() that match, sorted, such as "megatron_gpt/*/case.json". Throws when there is none, so that a
// test cannot pass by finding nothing.
std::vector<std::filesystem::path> files(const std::string& pattern);

nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace slipway::golden
