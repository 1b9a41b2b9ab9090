#include "core/checkpoint/cut.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/support/long.h"

namespace slipway {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// The global flat index of every element of a cut, in the order of its bytes, by plain enumeration.
std::vector<std::int64_t> elements_of(const Cut& cut, const Shape& global) {
  std::vector<std::int64_t> indices;
  for (std::int64_t flat = cut.flat_begin; flat < cut.flat_end; ++flat) {
    std::int64_t rest = flat;
    std::int64_t index = 0;
    std::int64_t stride = 1;
    for (std::size_t dim = global.size(); dim-- > 0;) {
      index += (cut.offset[dim] + rest % cut.shape[dim]) * stride;
      rest /= cut.shape[dim];
      stride *= global[dim];
    }
    indices.push_back(index);
  }
  return indices;
}

std::vector<std::int64_t> elements_of(const std::vector<Box>& boxes, const Shape& global) {
  std::vector<std::int64_t> indices;
  for (const Box& box : boxes) {
    EXPECT_EQ(box.position, static_cast<std::int64_t>(indices.size()));
    const auto more = elements_of(slice_cut(box.offset, box.shape), global);
    indices.insert(indices.end(), more.begin(), more.end());
  }
  return indices;
}

std::int64_t draw(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

Shape random_shape(std::mt19937& random) {
  Shape shape(draw(random, 0, 4));
  for (std::int64_t& extent : shape) extent = draw(random, 1, 5);
  return shape;
}

Cut random_cut(std::mt19937& random, const Shape& global) {
  Cut cut = whole_cut(global);
  for (std::size_t dim = 0; dim < global.size(); ++dim) {
    cut.offset[dim] = draw(random, 0, global[dim] - 1);
    cut.shape[dim] = draw(random, 1, global[dim] - cut.offset[dim]);
  }
  cut = slice_cut(cut.offset, cut.shape);
  if (draw(random, 0, 1) == 0) return cut;
  const std::int64_t begin = draw(random, 0, num_elements(cut));
  return flat_cut(cut, begin, draw(random, begin, num_elements(cut)));
}

TEST(Cut, BoxesHoldItsElementsInOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < rounds(3000, 60000); ++round) {
    const Shape global = random_shape(random);
    const Cut cut = random_cut(random, global);
    ASSERT_EQ(cut_problem(cut, global), "");
    const std::vector<Box> boxes = boxes_of(cut);
    EXPECT_LE(boxes.size(), std::max<std::size_t>(1, 2 * global.size()));
    EXPECT_EQ(elements_of(boxes, global), elements_of(cut, global)) << to_string(cut) << " of " << to_string(global);
  }
}

TEST(Cut, RunsCopyExactlyTheCommonElements) {
  std::mt19937 random(2);
  for (int round = 0; round < rounds(3000, 60000); ++round) {
    const Shape global = random_shape(random);
    const Cut source = random_cut(random, global);
    const Cut target = random_cut(random, global);
    const auto source_elements = elements_of(source, global);
    std::vector<std::int64_t> copied(num_elements(target), -1);
    std::int64_t total = 0;
    for (const Box& from : boxes_of(source)) {
      for (const Box& to : boxes_of(target)) {
        total += for_each_run(from, to, [&](std::int64_t read, std::int64_t write, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i) copied.at(write + i) = source_elements.at(read + i);
        });
      }
    }
    std::int64_t common = 0;
    const auto wanted = elements_of(target, global);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool has = std::find(source_elements.begin(), source_elements.end(), wanted[i]) != source_elements.end();
      common += has ? 1 : 0;
      EXPECT_EQ(copied[i], has ? wanted[i] : -1);
    }
    EXPECT_EQ(total, common);
  }
}

TEST(Cut, WholeRowsAreOneRun) {
  int runs = 0;
  const auto count = [&](std::int64_t, std::int64_t, std::int64_t) { ++runs; };
  EXPECT_EQ(for_each_run({{2, 0}, {4, 8}, 0}, {{0, 0}, {8, 8}, 0}, count), 32);
  EXPECT_EQ(runs, 1);
}

TEST(Cut, ProblemsAreNamed) {
  EXPECT_NE(cut_problem(slice_cut({0}, {4}), {3}), "");
  EXPECT_NE(cut_problem(slice_cut({kHuge}, {kHuge}), {3}), "");
  EXPECT_NE(cut_problem(slice_cut({-1}, {2}), {3}), "");
  EXPECT_NE(cut_problem(slice_cut({0}, {2}), {3, 3}), "");
  EXPECT_NE(cut_problem(whole_cut({kHuge, kHuge}), {kHuge, kHuge}), "");
  EXPECT_NE(cut_problem(flat_cut(whole_cut({3}), 0, 4), {3}), "");
  EXPECT_NE(cut_problem(flat_cut(whole_cut({3}), 2, 1), {3}), "");
  EXPECT_NE(cut_problem(flat_cut(whole_cut({3}), -1, 1), {3}), "");
  EXPECT_EQ(cut_problem(whole_cut({}), {}), "");
  EXPECT_EQ(cut_problem(whole_cut({0, 5}), {0, 5}), "");
}

TEST(Cut, NumElementsRefusesWhatDoesNotFit) {
  EXPECT_EQ(num_elements(Shape{}), 1);
  EXPECT_EQ(num_elements(Shape{3, 0}), 0);
  EXPECT_EQ(num_elements(Shape{3, -1}), std::nullopt);
  EXPECT_EQ(num_elements(Shape{kHuge, 0, kHuge}), std::nullopt);
  EXPECT_EQ(num_elements(Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}), std::nullopt);
}

TEST(Cut, PrintsItsRanges) {
  EXPECT_EQ(to_string(slice_cut({0, 8}, {4, 8})), "[0:4,8:16]");
  EXPECT_EQ(to_string(flat_cut(whole_cut({4, 4}), 3, 9)), "[0:4,0:4]{3:9}");
  EXPECT_EQ(to_string(whole_cut({})), "[]");
}

}  // namespace
}  // namespace slipway
