#include "core/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/checkpoint/safetensors.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A global tensor whose element i has the value i + base.
struct Tensor {
  std::string name;
  Shape shape;
  float base = 0.0F;

  std::vector<float> cut(const Cut& cut) const {
    std::vector<float> global(static_cast<std::size_t>(*num_elements(shape)));
    std::iota(global.begin(), global.end(), base);
    std::vector<float> part(static_cast<std::size_t>(num_elements(cut)));
    for (const Box& from : boxes_of(whole_cut(shape))) {
      for (const Box& to : boxes_of(cut)) {
        for_each_run(from, to, [&](std::int64_t source, std::int64_t target, std::int64_t count) {
          std::copy_n(global.begin() + source, count, part.begin() + target);
        });
      }
    }
    return part;
  }
};

// Saves tensors with the cuts given for each rank and commits.
class Save {
 public:
  Save(std::filesystem::path root, std::int64_t step) : root_(std::move(root)), step_(step) {
    folder_ = begin_save(root_, step_);
  }

  void rank(const std::vector<std::pair<Tensor, Cut>>& parts) {
    std::vector<std::vector<float>> data;
    std::vector<Piece> pieces;
    for (const auto& [tensor, cut] : parts) {
      data.push_back(tensor.cut(cut));
      pieces.push_back({tensor.name, DType::kF32, tensor.shape, cut, std::as_bytes(std::span(data.back()))});
    }
    const ShardDescription shard = write_shard(folder_, static_cast<int>(shards_.size()), pieces);
    shards_.push_back(ShardDescription::from_json(shard.to_json()));
  }

  std::filesystem::path commit(std::string_view state = "{}") {
    return commit_checkpoint(root_, step_, shards_, state);
  }

 private:
  std::filesystem::path root_;
  std::int64_t step_;
  std::filesystem::path folder_;
  std::vector<ShardDescription> shards_;
};

std::filesystem::path save_one(const std::filesystem::path& root, std::int64_t step, float base = 0.0F) {
  const Tensor tensor{"w", {4, 3}, base};
  Save save(root, step);
  save.rank({{tensor, whole_cut(tensor.shape)}});
  return save.commit();
}

std::vector<float> read(const CheckpointReader& reader, const std::string& name, const Cut& cut) {
  std::vector<float> values(static_cast<std::size_t>(num_elements(cut)), -1.0F);
  reader.read(name, cut, std::as_writable_bytes(std::span(values)));
  return values;
}

std::int64_t draw(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

// Cuts the tensor into disjoint parts: halves slices again and again, then some of them into flat ranges.
std::vector<Cut> random_partition(std::mt19937& random, const Shape& shape) {
  std::vector<Cut> cuts = {whole_cut(shape)};
  for (std::int64_t splits = draw(random, 0, 4); splits > 0; --splits) {
    Cut& cut = cuts[random() % cuts.size()];
    if (shape.empty()) continue;
    const std::size_t dim = random() % shape.size();
    Cut low = cut;
    Cut high = cut;
    low.shape[dim] = draw(random, 0, cut.shape[dim]);
    high.offset[dim] += low.shape[dim];
    high.shape[dim] -= low.shape[dim];
    cut = slice_cut(low.offset, low.shape);
    cuts.push_back(slice_cut(high.offset, high.shape));
  }
  const std::size_t slices = cuts.size();
  for (std::size_t i = 0; i < slices; ++i) {
    const std::int64_t middle = draw(random, 0, num_elements(cuts[i]));
    if (draw(random, 0, 1) == 0) continue;
    cuts.push_back(flat_cut(cuts[i], middle, cuts[i].flat_end));
    cuts[i] = flat_cut(cuts[i], 0, middle);
  }
  return cuts;
}

TEST(Checkpoint, AnyCutLoadsFromAnyOther) {
  std::mt19937 random(4);
  for (int round = 0; round < rounds(60, 1000); ++round) {
    const TempFolder root;
    std::vector<Tensor> tensors;
    for (int i = 0; i < 3; ++i) {
      Shape shape(draw(random, 0, 3));
      for (std::int64_t& extent : shape) extent = draw(random, 1, 9);
      tensors.push_back({"t" + std::to_string(i), shape, static_cast<float>(1000 * i)});
    }
    std::vector<std::vector<std::pair<Tensor, Cut>>> ranks(3);
    for (const Tensor& tensor : tensors) {
      for (const Cut& cut : random_partition(random, tensor.shape)) {
        if (num_elements(cut) > 0) ranks[random() % ranks.size()].push_back({tensor, cut});
      }
    }
    Save save(root.path(), round);
    for (const auto& rank : ranks) save.rank(rank);
    const CheckpointReader reader(save.commit());
    for (const Tensor& tensor : tensors) {
      for (const Cut& cut : random_partition(random, tensor.shape)) {
        EXPECT_EQ(read(reader, tensor.name, cut), tensor.cut(cut)) << to_string(cut) << " " << to_string(tensor.shape);
      }
    }
  }
}

TEST(Checkpoint, ColumnsOfALargeMatrixCrossTheReadWindow) {
  const TempFolder root;
  const Tensor tensor{"w", {700, 600}, 0.0F};
  Save save(root.path(), 1);
  save.rank({{tensor, slice_cut({0, 0}, {350, 600})}});
  save.rank({{tensor, slice_cut({350, 0}, {350, 600})}});
  const CheckpointReader reader(save.commit());
  for (const Cut& cut : {slice_cut({0, 100}, {700, 3}), slice_cut({0, 599}, {700, 1}), whole_cut(tensor.shape),
                         flat_cut(slice_cut({0, 300}, {700, 300}), 12345, 200001)}) {
    EXPECT_EQ(read(reader, "w", cut), tensor.cut(cut));
  }
}

TEST(Checkpoint, KeepsStateStepAndTensorList) {
  const TempFolder root;
  const Tensor tensor{"b", {2, 2}, 0.0F};
  Save save(root.path() / "new" / "folder", 100);
  save.rank({{tensor, whole_cut(tensor.shape)}, {{"a", {}, 0.0F}, whole_cut({})}});
  const auto folder = save.commit("{\"lr\": 0.1}\n");
  EXPECT_EQ(folder.filename(), "step_00000100");
  const CheckpointReader reader(folder);
  EXPECT_EQ(reader.step(), 100);
  EXPECT_EQ(reader.state(), "{\"lr\": 0.1}\n");
  ASSERT_EQ(reader.tensors().size(), 2U);
  EXPECT_EQ(reader.tensors()[0].name, "a");
  EXPECT_EQ(reader.find("b")->shape, (Shape{2, 2}));
  EXPECT_EQ(reader.find("c"), nullptr);
}

TEST(Checkpoint, WholeTensorsKeepTheirNameInTheShard) {
  const TempFolder root;
  const Tensor tensor{"w", {4, 3}, 0.0F};
  Save save(root.path(), 1);
  save.rank({{{"v", {2}, 0.0F}, whole_cut({2})}, {tensor, slice_cut({0, 0}, {2, 3})}});
  save.rank({{tensor, flat_cut(whole_cut({4, 3}), 6, 12)}});
  const auto folder = save.commit();
  EXPECT_NE(SafetensorsReader(folder / "rank_00000.safetensors").find("v"), nullptr);
  EXPECT_NE(SafetensorsReader(folder / "rank_00000.safetensors").find("w[0:2,0:3]"), nullptr);
  EXPECT_NE(SafetensorsReader(folder / "rank_00001.safetensors").find("w[0:4,0:3]{6:12}"), nullptr);
}

TEST(Checkpoint, ARankWithNothingWritesNothing) {
  const TempFolder root;
  const Tensor tensor{"w", {4, 3}, 0.0F};
  Save save(root.path(), 1);
  save.rank({{tensor, whole_cut(tensor.shape)}});
  save.rank({{tensor, flat_cut(whole_cut(tensor.shape), 5, 5)}});
  const auto folder = save.commit();
  EXPECT_FALSE(std::filesystem::exists(folder / "rank_00001.safetensors"));
  EXPECT_EQ(read(CheckpointReader(folder), "w", whole_cut(tensor.shape)), tensor.cut(whole_cut(tensor.shape)));
}

TEST(Checkpoint, ATensorWithoutElementsKeepsItsName) {
  const TempFolder root;
  Save save(root.path(), 1);
  save.rank({{{"empty", {0, 7}, 0.0F}, whole_cut({0, 7})}});
  const CheckpointReader reader(save.commit());
  EXPECT_EQ(reader.find("empty")->shape, (Shape{0, 7}));
  EXPECT_TRUE(read(reader, "empty", whole_cut({0, 7})).empty());
}

std::string message_of_commit(Save& save) {
  try {
    save.commit();
    return "";
  } catch (const CheckpointError& error) {
    return error.what();
  }
}

TEST(Checkpoint, PiecesThatDoNotCoverATensorOnceAreRefused) {
  const TempFolder root;
  const Tensor tensor{"w", {4, 3}, 0.0F};
  Save hole(root.path(), 1);
  hole.rank({{tensor, slice_cut({0, 0}, {4, 2})}});
  EXPECT_THAT(message_of_commit(hole), HasSubstr("its pieces hold 8 of its 12 elements"));
  Save twice(root.path(), 1);
  twice.rank({{tensor, slice_cut({0, 0}, {4, 2})}});
  twice.rank({{tensor, flat_cut(whole_cut({4, 3}), 11, 12)}});
  twice.rank({{tensor, slice_cut({2, 1}, {1, 2})}});
  EXPECT_THAT(message_of_commit(twice), HasSubstr("overlap"));
  Save shapes(root.path(), 1);
  shapes.rank({{tensor, slice_cut({0, 0}, {2, 3})}});
  shapes.rank({{{"w", {4, 4}, 0.0F}, slice_cut({2, 0}, {2, 4})}});
  EXPECT_THAT(message_of_commit(shapes), HasSubstr("F32 [4,3] in rank_00000.safetensors, but F32 [4,4]"));
  EXPECT_FALSE(newest_checkpoint(root.path()));
}

TEST(Checkpoint, BadPiecesAreRefused) {
  const TempFolder root;
  const auto folder = begin_save(root.path(), 1);
  const std::vector<float> data(6);
  const auto bytes = std::as_bytes(std::span(data));
  const std::vector<Piece> outside = {{"w", DType::kF32, {4}, slice_cut({2}, {6}), bytes}};
  EXPECT_THROW(write_shard(folder, 0, outside), CheckpointError);
  const std::vector<Piece> short_bytes = {{"w", DType::kF64, {6}, whole_cut({6}), bytes}};
  EXPECT_THROW(write_shard(folder, 0, short_bytes), CheckpointError);
  EXPECT_THROW(ShardDescription::from_json("nonsense"), CheckpointError);
}

TEST(Checkpoint, AShardOnAnotherDiskIsNoticed) {
  const TempFolder root;
  Save save(root.path(), 1);
  const Tensor tensor{"w", {4, 3}, 0.0F};
  save.rank({{tensor, whole_cut(tensor.shape)}});
  std::filesystem::remove(temporary_folder(root.path(), 1) / "rank_00000.safetensors");
  EXPECT_THAT(message_of_commit(save), HasSubstr("all ranks must save to one shared folder"));
}

TEST(Checkpoint, DifferencesAreListedBeforeReading) {
  const TempFolder root;
  Save save(root.path(), 1);
  save.rank({{{"a", {2}, 0.0F}, whole_cut({2})}, {{"b", {2}, 0.0F}, whole_cut({2})}});
  const CheckpointReader reader(save.commit());
  const std::vector<TensorInfo> same = {{"b", DType::kF32, {2}}, {"a", DType::kF32, {2}}};
  EXPECT_NO_THROW(reader.require_same(same));
  const std::vector<TensorInfo> wanted = {{"a", DType::kF32, {3}}, {"z", DType::kF32, {2}}, {"c", DType::kF32, {2}}};
  const TensorDifference difference = reader.compare(wanted);
  EXPECT_THAT(difference.missing, ElementsAre("c", "z"));
  EXPECT_THAT(difference.unexpected, ElementsAre("b"));
  EXPECT_THAT(difference.changed, ElementsAre("a: stored F32 [2], wanted F32 [3]"));
  EXPECT_THROW(reader.require_same(wanted), CheckpointError);
}

TEST(Checkpoint, ReadingWhatIsNotThereThrows) {
  const TempFolder root;
  const CheckpointReader reader(save_one(root.path(), 1));
  std::vector<std::byte> target(4);
  EXPECT_THROW(reader.read("v", whole_cut({1}), target), CheckpointError);
  EXPECT_THROW(reader.read("w", slice_cut({4, 0}, {1, 1}), target), CheckpointError);
}

void write_latest(const std::filesystem::path& root, const std::string& text) {
  std::ofstream(root / "latest") << text;
}

TEST(Checkpoint, LatestLeadsToTheNewest) {
  const TempFolder root;
  EXPECT_FALSE(newest_checkpoint(root.path() / "none"));
  EXPECT_FALSE(newest_checkpoint(root.path()));
  save_one(root.path(), 9);
  save_one(root.path(), 10);
  EXPECT_EQ(newest_checkpoint(root.path())->step, 10);
  EXPECT_TRUE(newest_checkpoint(root.path())->notes.empty());
  write_latest(root.path(), "step_00000009\n");
  EXPECT_EQ(newest_checkpoint(root.path())->step, 9);
}

TEST(Checkpoint, WithoutLatestTheHighestCompleteStepIsTaken) {
  const TempFolder root;
  save_one(root.path(), 9);
  save_one(root.path(), 123456789);
  std::filesystem::create_directory(root.path() / "step_99999999999");
  std::filesystem::create_directory(root.path() / ".tmp_step_00000500");
  std::filesystem::create_directory(root.path() / "step_7");
  for (const std::string latest : {"", "step_00000011\n", "../../etc\n", "garbage"}) {
    write_latest(root.path(), latest);
    const auto found = newest_checkpoint(root.path());
    ASSERT_TRUE(found) << latest;
    EXPECT_EQ(found->step, 123456789);
    EXPECT_EQ(found->notes.size(), 2U);
  }
  std::filesystem::remove(root.path() / "latest");
  EXPECT_EQ(newest_checkpoint(root.path())->step, 123456789);
}

TEST(Checkpoint, SavingAStepAgainReplacesIt) {
  const TempFolder root;
  save_one(root.path(), 5, 0.0F);
  const auto folder = save_one(root.path(), 5, 100.0F);
  EXPECT_EQ(read(CheckpointReader(folder), "w", slice_cut({0, 0}, {1, 2})), (std::vector<float>{100.0F, 101.0F}));
  EXPECT_FALSE(std::filesystem::exists(temporary_folder(root.path(), 5)));
}

TEST(Checkpoint, BeginSaveClearsWhatAKilledSaveLeft) {
  const TempFolder root;
  begin_save(root.path(), 3);
  std::ofstream(temporary_folder(root.path(), 3) / "rank_00000.safetensors") << "half";
  write_latest(root.path(), "x");
  std::ofstream(root.path() / "latest.tmp.abc") << "half";
  begin_save(root.path(), 4);
  EXPECT_FALSE(std::filesystem::exists(temporary_folder(root.path(), 3)));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "latest.tmp.abc"));
  EXPECT_TRUE(std::filesystem::exists(root.path() / "latest"));
  EXPECT_TRUE(std::filesystem::is_empty(temporary_folder(root.path(), 4)));
}

}  // namespace
}  // namespace slipway
