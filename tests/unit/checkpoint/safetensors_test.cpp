#include "core/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::HasSubstr;

std::string bytes_of_file(const std::filesystem::path& path) { return read_file(path.string(), ExitCode::kCheckpoint); }

void put(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string with_length(const std::string& header, const std::string& data = "") {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(header.size() >> (8 * i));
  return text + header + data;
}

std::string message_of_reading(const std::filesystem::path& path) {
  try {
    const SafetensorsReader reader(path);
    for (const SafetensorsEntry& entry : reader.entries()) reader.load(entry.name);
    return "";
  } catch (const CheckpointError& error) {
    return error.what();
  }
}

TEST(Safetensors, ReadsBackWhatWasWritten) {
  const TempFolder folder;
  const auto path = folder.path() / "a.safetensors";
  const std::vector<float> floats = {1.5F, -2.0F, 3.25F, 0.0F, 5.0F, -0.0F};
  const std::vector<std::uint8_t> bytes = {1, 2, 3};
  const std::vector<double> scalar = {0.1};
  const std::vector<SafetensorsTensor> tensors = {{"odd \"name\"\n", DType::kU8, {3}, std::as_bytes(std::span(bytes))},
                                                  {"f", DType::kF32, {2, 3}, std::as_bytes(std::span(floats))},
                                                  {"none", DType::kBF16, {4, 0}, {}},
                                                  {"scalar", DType::kF64, {}, std::as_bytes(std::span(scalar))}};
  const WrittenFile written = write_safetensors(path, tensors, {{"k", "v"}});
  const std::string file = bytes_of_file(path);
  EXPECT_EQ(written.bytes, file.size());
  EXPECT_EQ(written.xxh3, xxh3_64(file.data(), file.size()));

  const SafetensorsReader reader(path);
  EXPECT_EQ(reader.metadata().at("k"), "v");
  EXPECT_EQ(reader.load_as<float>("f"), floats);
  EXPECT_EQ(reader.load_as<std::uint8_t>("odd \"name\"\n"), bytes);
  EXPECT_EQ(reader.load_as<double>("scalar"), scalar);
  EXPECT_TRUE(reader.load("none").empty());
  EXPECT_EQ(reader.at("f").shape, (std::vector<std::int64_t>{2, 3}));
  for (const SafetensorsEntry& entry : reader.entries()) {
    EXPECT_EQ(entry.begin % static_cast<std::uint64_t>(dtype_size(entry.dtype)), 0U) << entry.name << " is not aligned";
  }
}

TEST(Safetensors, AFileWithoutTensorsIsOne) {
  const TempFolder folder;
  write_safetensors(folder.path() / "a", {});
  EXPECT_TRUE(SafetensorsReader(folder.path() / "a").entries().empty());
}

TEST(Safetensors, WriterRefusesWhatDoesNotFit) {
  const TempFolder folder;
  const std::vector<float> data(4);
  const auto bytes = std::as_bytes(std::span(data));
  const auto write = [&](std::vector<SafetensorsTensor> tensors) { write_safetensors(folder.path() / "a", tensors); };
  EXPECT_THROW(write({{"a", DType::kF32, {5}, bytes}}), CheckpointError);
  EXPECT_THROW(write({{"a", DType::kF32, {-4}, bytes}}), CheckpointError);
  EXPECT_THROW(write({{"a", DType::kF32, {4}, bytes}, {"a", DType::kF32, {4}, bytes}}), CheckpointError);
  EXPECT_THROW(write({{"__metadata__", DType::kF32, {4}, bytes}}), CheckpointError);
  EXPECT_THROW(write({{"\xff", DType::kF32, {4}, bytes}}), CheckpointError);
  EXPECT_THROW(write_safetensors(folder.path() / "no" / "a", {}), CheckpointError);
}

TEST(Safetensors, AMissingTensorIsNamedWithTheNearest) {
  const TempFolder folder;
  const std::vector<float> data(1);
  const std::vector<SafetensorsTensor> tensors = {{"weight", DType::kF32, {1}, std::as_bytes(std::span(data))}};
  write_safetensors(folder.path() / "a", tensors);
  const SafetensorsReader reader(folder.path() / "a");
  EXPECT_THROW(reader.load_as<double>("weight"), CheckpointError);
  try {
    reader.load("wieght");
    FAIL();
  } catch (const CheckpointError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"weight\""));
  }
}

struct BadFile {
  std::string bytes;
  std::string reason;
};

std::vector<BadFile> bad_files() {
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::string data(8, 'x');
  const auto one = [&](const std::string& text) { return with_length(R"({"a":)" + text + "}", data); };
  const std::string good = entry(R"("F32")", "[2]", "[0,8]");
  return {{"", "too few"},
          {"1234567", "too few"},
          {std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + "{}", "states a header of 18446744073709551615"},
          {std::string("\x03\0\0\0\0\0\0\0{}", 10), "states a header of 3 bytes"},
          {with_length(""), "is not JSON"},
          {with_length("[]"), "is not a JSON object"},
          {with_length("{"), "is not JSON"},
          {with_length("{} x"), "is not JSON"},
          {with_length("{\"\xff\":1}"), "is not JSON"},
          {with_length(R"({"a":)" + std::string(100000, '[')), "nested deeper"},
          {with_length(R"({"a":1})"), R"(tensor "a")"},
          {one(R"({"dtype":"F32","shape":[2]})"), R"(has no "data_offsets")"},
          {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8],"more":1})"), "keys other than"},
          {one(R"({"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), R"("dtype" appears twice)"},
          {with_length(R"({"a":)" + good + R"(,"a":)" + good + "}", data), R"("a" appears twice)"},
          {one(entry(R"("F31")", "[2]", "[0,8]")), R"(dtype "F31" is not one of F64)"},
          {one(entry("7", "[2]", "[0,8]")), "is not a text"},
          {one(entry(R"("F32")", "[-2]", "[0,8]")), "whole number"},
          {one(entry(R"("F32")", "[2.0]", "[0,8]")), "whole number"},
          {one(entry(R"("F32")", "2", "[0,8]")), "list of numbers"},
          {one(entry(R"("F32")", "[3]", "[0,8]")), "takes 12"},
          {one(entry(R"("F32")", "[9223372036854775807,4]", "[0,8]")), "too large"},
          {one(entry(R"("F32")", "[4611686018427387904,4]", "[0,0]")), "too large"},
          {one(entry(R"("F32")", "[18446744073709551616]", "[0,8]")), "whole number"},
          {one(entry(R"("F32")", "[2]", "[8,0]")), "rising"},
          {one(entry(R"("F32")", "[2]", "[0]")), "rising"},
          {one(entry(R"("F32")", "[2]", "[8,16]")), "ends at byte 16"},
          {one(entry(R"("F32")", "[1]", "[4,8]")), "there is a gap"},
          {one(entry(R"("F32")", "[1]", "[0,4]")), "4 bytes after the last tensor"},
          {with_length(R"({"a":)" + good + R"(,"b":)" + entry(R"("U8")", "[4]", "[4,8]") + "}", data), "they overlap"},
          {with_length(R"({"__metadata__":{"k":1},"a":)" + good + "}", data), "is not a text"},
          {with_length(R"({"__metadata__":[],"a":)" + good + "}", data), "is not a JSON object"}};
}

TEST(Safetensors, BadFilesGiveAnErrorWithFileAndReason) {
  const TempFolder folder;
  const auto path = folder.path() / "bad.safetensors";
  for (const BadFile& bad : bad_files()) {
    put(path, bad.bytes);
    const std::string message = message_of_reading(path);
    EXPECT_THAT(message, HasSubstr(bad.reason)) << bad.bytes.substr(0, 200);
    EXPECT_THAT(message, HasSubstr("bad.safetensors"));
  }
  EXPECT_THAT(message_of_reading(folder.path()), HasSubstr("is not a regular file"));
  EXPECT_THAT(message_of_reading(folder.path() / "none"), HasSubstr("No such file"));
}

TEST(Safetensors, RandomDamageNeverDoesMoreThanThrow) {
  const TempFolder folder;
  const auto path = folder.path() / "a.safetensors";
  const std::vector<float> data(16);
  const auto bytes = std::as_bytes(std::span(data));
  write_safetensors(path,
                    std::vector<SafetensorsTensor>{{"a", DType::kF32, {4, 4}, bytes}, {"bc", DType::kI64, {8}, bytes}});
  const std::string good = bytes_of_file(path);
  std::mt19937 random(3);
  for (int round = 0; round < rounds(2000, 40000); ++round) {
    std::string damaged = good;
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) damaged.resize(random() % damaged.size());
    put(path, damaged);
    message_of_reading(path);
  }
}

}  // namespace
}  // namespace slipway
