// Damaged and hostile checkpoint folders: every fault is an error that names the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <functional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/checksums.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string contents(const fs::path& path) { return read_file(path.string(), ExitCode::kCheckpoint); }

void put(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// A small committed checkpoint of two ranks, one of them with flat ranges.
class Damage : public testing::Test {
 protected:
  Damage() {
    const fs::path temporary = begin_save(root_.path(), 7);
    const std::vector<float> data(12, 1.0F);
    const auto bytes = std::as_bytes(std::span(data));
    const std::vector<Piece> first = {{"w", DType::kF32, {4, 3}, slice_cut({0, 0}, {2, 3}), bytes.first(24)},
                                      {"b", DType::kF32, {3}, whole_cut({3}), bytes.first(12)}};
    const std::vector<Piece> second = {{"w", DType::kF32, {4, 3}, flat_cut(whole_cut({4, 3}), 6, 12), bytes.first(24)}};
    const std::vector<ShardDescription> shards = {write_shard(temporary, 0, first), write_shard(temporary, 1, second)};
    folder_ = commit_checkpoint(root_.path(), 7, shards, R"({"step": 7})");
  }

  // What opening and reading everything says; empty when nothing is wrong.
  std::string message() const {
    try {
      const auto found = newest_checkpoint(root_.path());
      const CheckpointReader reader(found.value().folder);
      for (const TensorInfo& info : reader.tensors()) {
        std::vector<std::byte> target(static_cast<std::size_t>(*num_elements(info.shape) * dtype_size(info.dtype)));
        reader.read(info.name, whole_cut(info.shape), target);
      }
      return "";
    } catch (const CheckpointError& error) {
      return error.what();
    }
  }

  // Writes a file and makes the checksums right again, as only someone who means harm would.
  void forge(const std::string& file, const std::string& text) const {
    put(folder_ / file, text);
    std::vector<FileRecord> files = read_checksums(folder_);
    for (FileRecord& record : files) {
      if (record.name == file) record = {file, text.size(), xxh3_64(text.data(), text.size())};
    }
    write_checksums(folder_, files);
  }

  std::string forged(const std::string& from, const std::string& to) const {
    const std::string good = contents(folder_ / kIndexFile);
    std::string bad = good;
    const std::size_t at = bad.find(from);
    if (at == std::string::npos) return "no such text: " + from;
    forge(kIndexFile, bad.replace(at, from.size(), to));
    const std::string result = message();
    forge(kIndexFile, good);
    return result;
  }

  const TempFolder root_;
  fs::path folder_;
};

TEST_F(Damage, NoneIsNoError) { EXPECT_EQ(message(), ""); }

TEST_F(Damage, EveryFlippedBitIsFound) {
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string good = contents(entry.path());
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
      put(entry.path(), bad);
      ASSERT_THAT(message(), HasSubstr("step_00000007")) << entry.path() << " byte " << i;
    }
    put(entry.path(), good);
  }
}

TEST_F(Damage, EveryTruncationIsFound) {
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string good = contents(entry.path());
    const std::string name = entry.path().filename().string();
    for (std::size_t size = 0; size < good.size(); ++size) {
      put(entry.path(), good.substr(0, size));
      ASSERT_THAT(message(), HasSubstr(name)) << size;
    }
    put(entry.path(), good + "x");
    EXPECT_THAT(message(), HasSubstr(name));
    put(entry.path(), good);
  }
}

TEST_F(Damage, AMissingFileIsNamed) {
  for (const std::string name : {"rank_00001.safetensors", "index.json", "state.json", "checksums.txt"}) {
    const fs::path path = folder_ / name;
    const std::string good = contents(path);
    fs::remove(path);
    EXPECT_THAT(message(), HasSubstr(name));
    fs::create_directory(path);
    EXPECT_THAT(message(), HasSubstr(name + " is not a regular file"));
    fs::remove(path);
    put(path, good);
  }
}

TEST_F(Damage, WithoutChecksumsASizeIsStillFound) {
  EXPECT_NO_THROW(CheckpointReader(folder_, Verify::kSizes));
  const fs::path shard = folder_ / "rank_00000.safetensors";
  std::string bytes = contents(shard);
  bytes.back() ^= 1;
  put(shard, bytes);
  const CheckpointReader reader(folder_, Verify::kSizes);
  std::size_t failures = 0;
  for (std::size_t rank = 0; rank < 3; ++rank) {
    try {
      reader.verify_checksums(rank, 3);
    } catch (const CheckpointError& error) {
      EXPECT_THAT(error.what(), HasSubstr("rank_00000.safetensors"));
      ++failures;
    }
  }
  EXPECT_EQ(failures, 1U);
  put(shard, bytes + "x");
  EXPECT_THROW(CheckpointReader(folder_, Verify::kSizes), CheckpointError);
}

TEST_F(Damage, AnIndexThatIsNotJsonIsNamed) {
  const std::string good = contents(folder_ / kIndexFile);
  for (const std::string text : {"", "x", "[]", "{}", "null", "{\"format\":\"slipway-checkpoint\"}"}) {
    forge(kIndexFile, text);
    EXPECT_THAT(message(), HasSubstr("index.json")) << text;
  }
  forge(kIndexFile, good.substr(0, good.size() / 2));
  EXPECT_THAT(message(), HasSubstr("index.json: is not JSON"));
  forge(kIndexFile, std::string(1000000, '['));
  EXPECT_THAT(message(), HasSubstr("nested deeper"));
}

TEST_F(Damage, AForgedIndexIsRefused) {
  EXPECT_EQ(forged("step", "step"), "");
  EXPECT_THAT(forged("\"version\":1", "\"version\":2"), HasSubstr("this program reads version 1"));
  EXPECT_THAT(forged("slipway-checkpoint", "other"), HasSubstr("format is not"));
  EXPECT_THAT(forged("\"F32\"", "\"F33\""), HasSubstr("\"F33\" is not one of"));
  EXPECT_THAT(forged("\"F32\"", "\"I32\""), HasSubstr("that file holds F32 [3] instead of I32 [3]"));
  EXPECT_THAT(forged("rank_00000.safetensors", "../../../etc/passwd"), HasSubstr("file name"));
  EXPECT_THAT(forged("rank_00000.safetensors", "rank_00009.safetensors"), HasSubstr("does not list it"));
  EXPECT_THAT(forged("\"tensor\":\"b\"", "\"tensor\":\"c\""), HasSubstr("has no tensor"));
  EXPECT_THAT(forged("\"shape\":[4,3]", "\"shape\":[4,4]"), HasSubstr("elements"));
  EXPECT_THAT(forged("\"shape\":[4,3]", "\"shape\":[9223372036854775807,9223372036854775807]"),
              HasSubstr("impossible"));
  EXPECT_THAT(forged("\"offset\":[0,0]", "\"offset\":[3,0]"), HasSubstr("leaves dimension 0"));
  EXPECT_THAT(forged("\"offset\":[0,0]", "\"offset\":[1,0]"), HasSubstr("overlap"));
  EXPECT_THAT(forged("\"offset\":[0,0]", "\"offset\":[9223372036854775807,0]"), HasSubstr("leaves dimension 0"));
  EXPECT_THAT(forged("\"offset\":[0,0]", "\"offset\":[0]"), HasSubstr("does not have the dimensions"));
  EXPECT_THAT(forged("[6,12]", "[6,13]"), HasSubstr("flat range"));
  EXPECT_THAT(forged("[6,12]", "[6]"), HasSubstr("two numbers"));
  EXPECT_THAT(forged("[6,12]", "[7,12]"), HasSubstr("11 of its 12 elements"));
}

TEST_F(Damage, AForgedShardIsRefused) {
  forge("rank_00001.safetensors", contents(folder_ / "rank_00000.safetensors"));
  EXPECT_THAT(message(), HasSubstr("rank_00001.safetensors"));
  forge("rank_00001.safetensors", "nonsense that is longer than eight bytes");
  EXPECT_THAT(message(), HasSubstr("rank_00001.safetensors"));
}

// A limit on the size of files stands for a full disk.
TEST_F(Damage, ADiskThatIsFullLeavesTheCheckpointsBefore) {
  const fs::path temporary = begin_save(root_.path(), 8);
  const std::vector<float> data(100000);
  const std::vector<Piece> pieces = {{"w", DType::kF32, {100000}, whole_cut({100000}), std::as_bytes(std::span(data))}};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write_shard(temporary, 0, pieces), CheckpointError);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_EQ(message(), "");
}

TEST_F(Damage, ARootBelowAFileIsNamed) {
  const fs::path file = root_.path() / "file";
  put(file, "x");
  const auto message_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kCheckpoint);
      return error.what();
    }
  };
  const std::string below = (file / "checkpoints").string();
  EXPECT_THAT(message_of([&] { newest_checkpoint(below); }), HasSubstr(below));
  EXPECT_THAT(message_of([&] { newest_checkpoint(file); }), HasSubstr("is not a folder"));
  EXPECT_THAT(message_of([&] { begin_save(below, 1); }), HasSubstr(below));
  EXPECT_THAT(message_of([&] { CheckpointReader reader(below); }), HasSubstr(below));
  const std::vector<float> data(1);
  const std::vector<Piece> pieces = {{"w", DType::kF32, {1}, whole_cut({1}), std::as_bytes(std::span(data))}};
  EXPECT_THAT(message_of([&] { write_shard(below, 0, pieces); }), HasSubstr(below));
}

}  // namespace
}  // namespace slipway
