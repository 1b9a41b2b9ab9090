#include "tests/support/golden_values.h"

#include <glob.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace slipway::golden {
namespace {

constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

// The first number of the stream is number 0; 24 bits.
class Numbers {
 public:
  explicit Numbers(Stream stream) : state_(fnv1a(stream.name) ^ (stream.seed * kGoldenRatio)) {}

  std::uint64_t next() {
    state_ += kGoldenRatio;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z = z ^ (z >> 31);
    return z >> 40;
  }

 private:
  std::uint64_t state_;
};

}  // namespace

std::vector<float> values(Stream stream, Range range, std::size_t count) {
  constexpr double kMiddle = 8388608.0;  // 2^23
  Numbers numbers(stream);
  std::vector<float> result(count);
  for (float& value : result) {
    value = static_cast<float>((static_cast<double>(numbers.next()) - kMiddle) * (range.half / kMiddle) + range.center);
  }
  return result;
}

std::vector<std::int64_t> ints(Stream stream, std::uint64_t modulus, std::size_t count) {
  Numbers numbers(stream);
  std::vector<std::int64_t> result(count);
  for (std::int64_t& value : result) value = static_cast<std::int64_t>(numbers.next() % modulus);
  return result;
}

Range weight_range(std::string_view parameter) {
  if (parameter.ends_with("layernorm.weight") || parameter.ends_with("layer_norm.weight")) return {0.25, 1.0};
  if (parameter.ends_with(".bias")) return {0.125, 0.0};
  if (parameter.starts_with("embedding.") || parameter.ends_with("router.weight")) return {0.5, 0.0};
  return {0.25, 0.0};
}

std::vector<float> weights(Stream parameter, std::size_t count) {
  return values(parameter, weight_range(parameter.name), count);
}

std::filesystem::path folder() {
  const char* given = std::getenv("SLIPWAY_GOLDEN_DIR");
  const std::filesystem::path path = given != nullptr ? given : SLIPWAY_DEFAULT_GOLDEN_DIR;
  if (!std::filesystem::is_directory(path)) {
    throw std::runtime_error("no golden data at " + path.string() +
                             "; set SLIPWAY_GOLDEN_DIR to the folder that holds it");
  }
  return path;
}

std::vector<std::filesystem::path> files(const std::string& pattern) {
  const std::string full = (folder() / pattern).string();
  glob_t found{};
  const int status = ::glob(full.c_str(), 0, nullptr, &found);
  std::vector<std::filesystem::path> paths;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (paths.empty()) throw std::runtime_error("no golden file matches " + full);
  return paths;
}

nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return nlohmann::json::parse(file);
}

}  // namespace slipway::golden
