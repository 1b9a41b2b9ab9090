#include "core/params/init.h"

#include <gtest/gtest.h>

#include <slipway/philox.h>

#include <cmath>

#include "core/base/error.h"
#include "core/params/init_streams.h"
#include "core/params/table.h"
#include "core/params/tensor_view.h"

namespace slipway {
namespace {

slw_param_decl declare(const char* name, const std::vector<int64_t>& shape, int32_t init, double a, double b) {
  slw_param_decl decl{};
  decl.struct_size = SLW_SIZE_TO(slw_param_decl, former_names);
  decl.name = name;
  decl.ndim = static_cast<int32_t>(shape.size());
  decl.global_shape = shape.data();
  decl.init = init;
  decl.init_a = a;
  decl.init_b = b;
  return decl;
}

std::vector<float> draw(const ParamDeclaration& param, std::vector<int64_t> offset, std::vector<int64_t> shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)), -1.0f);
  const std::vector<int64_t> strides = contiguous_strides(shape);
  initialize_slice(param, 1234, {std::move(offset), std::move(shape), strides, values.data()});
  return values;
}

TEST(Init, ASliceDrawsWhatTheWholeDraws) {
  const std::vector<int64_t> shape{7, 13};
  const ParamDeclaration param(declare("w", shape, SLW_INIT_NORMAL, 0.0, 0.02));
  const std::vector<float> whole = draw(param, {0, 0}, {7, 13});
  const std::vector<float> slice = draw(param, {2, 5}, {3, 6});
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 6; ++c) EXPECT_EQ(slice[r * 6 + c], whole[(r + 2) * 13 + c + 5]);
  }
}

TEST(Init, PaddingIsZeroAndMovesNothing) {
  const std::vector<int64_t> shape{5, 6}, padded{8, 9};
  slw_param_decl decl = declare("w", shape, SLW_INIT_UNIFORM, 1.0, 2.0);
  const ParamDeclaration plain(decl);
  decl.padded_shape = padded.data();
  const ParamDeclaration with_padding(decl);
  const std::vector<float> a = draw(plain, {0, 0}, {5, 6}), b = draw(with_padding, {0, 0}, {8, 9});
  for (size_t r = 0; r < 8; ++r) {
    for (size_t c = 0; c < 9; ++c) EXPECT_EQ(b[r * 9 + c], r < 5 && c < 6 ? a[r * 6 + c] : 0.0f);
  }
}

TEST(Init, NormalHasItsMeanAndDeviation) {
  const std::vector<int64_t> shape{100, 1000};
  const ParamDeclaration param(declare("w", shape, SLW_INIT_NORMAL, 0.5, 0.02));
  double sum = 0, squares = 0;
  for (const float value : draw(param, {0, 0}, shape)) sum += value, squares += (value - 0.5) * (value - 0.5);
  EXPECT_NEAR(sum / 1e5, 0.5, 3e-4);
  EXPECT_NEAR(std::sqrt(squares / 1e5), 0.02, 2e-4);
}

TEST(Init, DependsOnTheNameAndTheSeed) {
  const std::vector<int64_t> shape{4};
  const ParamDeclaration a(declare("a", shape, SLW_INIT_NORMAL, 0, 1)), b(declare("b", shape, SLW_INIT_NORMAL, 0, 1));
  EXPECT_NE(draw(a, {0}, {4}), draw(b, {0}, {4}));
  EXPECT_NE(init_key(a, 1), init_key(a, 2));
}

slw_cut make_cut(int32_t dim, const char* group, int64_t parts) {
  return {SLW_SIZE_TO(slw_cut, parts), dim, group, parts};
}

// The local tensors of all ranks, drawn one by one, put together again.
std::vector<float> assembled(const slw_param_decl& decl, const std::string& group, int ranks) {
  std::vector<float> whole;
  for (int rank = 0; rank < ranks; ++rank) {
    ParamTable table(GroupPlaces{{group, {ranks, rank}}});
    table.add(0, decl);
    const Param& param = table.params().front();
    whole.resize(static_cast<size_t>(element_count(param.declaration->padded_shape())), -1.0f);
    std::vector<float> local(static_cast<size_t>(param.local_numel));
    initialize_local(param, 7, local.data());
    for (const LocalBlock& block : param.local.blocks) {
      for (int64_t r = 0; r < block.shape[0]; ++r) {
        for (int64_t c = 0; c < block.shape[1]; ++c) {
          whole[static_cast<size_t>((block.global_offset[0] + r) * param.declaration->padded_shape()[1] +
                                    block.global_offset[1] + c)] =
              local[static_cast<size_t>((block.local_offset[0] + r) * param.local.shape[1] + block.local_offset[1] +
                                        c)];
        }
      }
    }
  }
  return whole;
}

TEST(LocalLayout, RanksDrawTheirPartsOfTheWhole) {
  const std::vector<int64_t> shape{10, 12}, padded{12, 12};
  for (const slw_cut& cut : {make_cut(0, "tp", 0), make_cut(1, "tp", 0), make_cut(0, "tp", 2), make_cut(1, "tp", 2)}) {
    slw_param_decl decl = declare("w", shape, SLW_INIT_NORMAL, 0, 1);
    decl.padded_shape = padded.data();
    const slw_cut* cuts[] = {&cut};
    decl.num_cuts = 1;
    decl.cuts = cuts;
    const std::vector<float> whole = assembled(decl, "none", 1);
    EXPECT_EQ(assembled(decl, "tp", 2), whole) << cut.dim << " " << cut.parts;
    EXPECT_EQ(assembled(decl, "tp", 3), whole) << cut.dim << " " << cut.parts;
  }
}

// The stream is chosen by what is declared, not by the number of ranks; padding takes numbers and is zero.
TEST(InitStreams, DrawInDeclareOrderFromTheStreamOfTheParameter) {
  const std::vector<int64_t> shape{5, 6}, padded{8, 6};
  const slw_cut cut = make_cut(0, "tp", 0);
  const slw_cut* cuts[] = {&cut};
  slw_param_decl shared = declare("shared", shape, SLW_INIT_UNIFORM, 1, 2), plain = shared;
  plain.name = "plain";
  shared.padded_shape = padded.data();
  shared.num_cuts = 1;
  shared.cuts = cuts;
  ParamTable table(GroupPlaces{{"tp", {2, 1}}});
  table.add(0, shared);
  table.add(0, plain);
  StreamTracker streams = megatron_streams(7, {});
  std::vector<float> a(24, -1.0f), b(30, -1.0f), again(30, -1.0f);
  initialize_from_streams(table.params()[0], streams, a.data());
  initialize_from_streams(table.params()[1], streams, b.data());
  initialize_from_streams(table.params()[1], streams, again.data());
  EXPECT_EQ(streams.at(kModelParallelRng).offset, 6u);
  EXPECT_EQ(streams.at(kDataParallelRng).offset, 16u);
  EXPECT_NE(b, again);
  for (size_t i = 0; i < a.size(); ++i) {  // global rows 4 to 7, of which 4 is no padding
    const slw_philox_block block = slw_philox(7 + 2718, static_cast<uint32_t>(i / 4), 0, 0, 0);
    EXPECT_EQ(a[i], i < 6 ? static_cast<float>(1 + slw_uniform(block.lane[i % 4])) : 0.0f) << i;
  }
}

TEST(LocalLayout, RefusesASizeThatDoesNotDivideAndNamesThoseThatDo) {
  const std::vector<int64_t> shape{12};
  const slw_cut cut = make_cut(0, "tp", 2);
  const slw_cut* cuts[] = {&cut};
  slw_param_decl decl = declare("fc1", shape, SLW_INIT_ONES, 0, 0);
  decl.num_cuts = 1;
  decl.cuts = cuts;
  ParamTable table(GroupPlaces{{"tp", {4, 0}}});
  try {
    table.add(0, decl);
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("sizes of tp that do: 1, 2, 3, 6"), std::string::npos) << error.what();
  }
}

TEST(ParamTable, ATieIsOneParameterWithTwoUses) {
  const std::vector<int64_t> shape{4, 2};
  slw_param_decl first = declare("embedding.weight", shape, SLW_INIT_ONES, 0, 0);
  first.tie = "embedding";
  ParamTable table;
  table.add(0, first);
  table.add(0, declare("other", shape, SLW_INIT_ONES, 0, 0));
  table.add(0, first);
  ASSERT_EQ(table.params().size(), 2u);
  EXPECT_EQ(table.num_uses(0), 3);
  EXPECT_EQ(&table.by_use(0, 0), &table.by_use(0, 2));
  EXPECT_EQ(table.params()[0].uses.size(), 2u);
}

TEST(ParamTable, RefusesANameThatStandsTwice) {
  const std::vector<int64_t> shape{4};
  ParamTable table;
  table.add(0, declare("w", shape, SLW_INIT_ONES, 0, 0));
  EXPECT_THROW(table.add(0, declare("w", shape, SLW_INIT_ONES, 0, 0)), PluginError);
}

TEST(ParamDeclaration, RefusesWhatContradictsItself) {
  const std::vector<int64_t> shape{4, 4}, smaller{3, 4}, none{0, 4};
  EXPECT_THROW(ParamDeclaration{declare("w", none, SLW_INIT_ONES, 0, 0)}, PluginError);
  EXPECT_THROW(ParamDeclaration{declare("w", shape, 99, 0, 0)}, PluginError);
  EXPECT_THROW(ParamDeclaration{declare("", shape, SLW_INIT_ONES, 0, 0)}, PluginError);
  slw_param_decl padded = declare("w", shape, SLW_INIT_ONES, 0, 0);
  padded.padded_shape = smaller.data();
  EXPECT_THROW(ParamDeclaration{padded}, PluginError);
  slw_param_decl flagged = declare("w", shape, SLW_INIT_ONES, 0, 0);
  flagged.flags = 1u << 15;
  EXPECT_THROW(ParamDeclaration{flagged}, PluginError);
  slw_block block{SLW_SIZE_TO(slw_block, rows), 0, "q", 3};
  const slw_block* blocks[] = {&block};
  slw_param_decl cut = declare("w", shape, SLW_INIT_ONES, 0, 0);
  cut.num_blocks = 1;
  cut.blocks = blocks;
  EXPECT_THROW(ParamDeclaration{cut}, PluginError);
}

TEST(ParamDeclaration, RefusesATailItCannotRead) {
  struct Newer {
    slw_param_decl known;
    uint64_t unknown;
  } newer{};
  const std::vector<int64_t> shape{4};
  newer.known = declare("w", shape, SLW_INIT_ONES, 0, 0);
  newer.known.struct_size = sizeof(newer);
  EXPECT_NO_THROW(ParamDeclaration{newer.known});
  newer.unknown = 1;
  EXPECT_THROW(ParamDeclaration{newer.known}, PluginError);
}

}  // namespace
}  // namespace slipway
