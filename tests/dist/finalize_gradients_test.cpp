// Gradients of made-up models on tp2 x pp2 x dp2 against one process that adds everything up in double.
#include "core/parallel/finalize_gradients.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/comm/communicator.h"
#include "core/optim/norm.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

constexpr int kTp = 2, kPp = 2, kDp = 2;

struct Made {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<int> stages;  // two: tied
  bool is_cut, is_partial;  // over tp
  double share;             // of its elements for the first dp rank, when sharded
};

const std::vector<Made> kModel{
    {"embedding", {6, 5}, {0, 1}, true, false, 0.5}, {"norm.a", {7}, {0}, false, true, 0.7},
    {"matrix.a", {4, 3}, {0}, true, false, 1.0},     {"plain.a", {5}, {0}, false, false, 0.3},
    {"norm.b", {9}, {1}, false, true, 0.2},          {"matrix.b", {8, 2}, {1}, true, false, 0.0},
    {"plain.b", {3}, {1}, false, false, 0.4},        {"tied.norm", {11}, {0, 1}, false, true, 0.6}};

// What the tokens of one dp rank, seen by one tp rank, add to element `i` of a copy on a stage.
double contribution(const Made& made, int stage, int tp, int dp, int64_t i) {
  const int seen_by = made.is_partial ? tp : 0;
  return std::sin(1 + static_cast<double>(i) + 3.7 * stage + 17.3 * seen_by + 41.9 * dp + 5.1 * made.name[0] +
                  9.7 * std::string(made.name).back());
}

double whole_gradient(const Made& made, int64_t i) {
  double sum = 0;
  for (const int stage : made.stages) {
    for (int dp = 0; dp < kDp; ++dp) {
      for (int tp = 0; tp < (made.is_partial ? kTp : 1); ++tp) sum += contribution(made, stage, tp, dp, i);
    }
  }
  return sum;
}

double whole_norm() {
  double squares = 0;
  for (const Made& made : kModel) {
    for (int64_t i = 0; i < element_count(made.shape); ++i) squares += std::pow(whole_gradient(made, i), 2);
  }
  return std::sqrt(squares);
}

void declare(const Made& made, ParamTable& table) {
  const slw_cut cut{SLW_SIZE_TO(slw_cut, parts), 0, "tp", 1};
  const slw_cut* const cuts = &cut;
  slw_param_decl decl{};
  decl.struct_size = SLW_SIZE_TO(slw_param_decl, former_names);
  decl.name = made.name;
  decl.ndim = static_cast<int32_t>(made.shape.size());
  decl.global_shape = made.shape.data();
  decl.init = SLW_INIT_ZEROS;
  if (made.is_cut) decl.num_cuts = 1, decl.cuts = &cuts;
  if (made.is_partial) decl.grad_sum_group = "tp";
  if (made.stages.size() > 1) decl.tie = made.name;
  table.add(0, decl);
}

// One rank of the grid with its part of the model; gradients as the backend leaves them.
class Rank {
 public:
  Rank(const RankEnvironment& environment, const Mesh& mesh, bool is_sharded)
      : tp_(mesh.coordinate("tp", environment.rank)),
        stage_(mesh.coordinate("pp", environment.rank)),
        dp_(mesh.coordinate("dp_cp", environment.rank)),
        table_({{"tp", {kTp, tp_}}}) {
    for (const Made& made : kModel) {
      if (std::find(made.stages.begin(), made.stages.end(), stage_) == made.stages.end()) continue;
      declare(made, table_);
      made_.push_back(&made);
      if (made.stages.size() == 1) continue;
      shared_.push_back(static_cast<int32_t>(made_.size()) - 1);
      if (stage_ > 0) table_.mark_shared_copy(made.name);
    }
    make_plan(is_sharded);
    store_.emplace(table_, plan_);
    owned_ = owned_ranges(plan_, table_, dp_);
    fill();
  }

  void finalize(Communicator& comm) {
    finalize_gradients(table_, *store_, owned_, shared_, {comm.core("tp"), comm.core("embd")});
  }
  // Of what this rank owns.
  double largest_error() const {
    double largest = 0;
    for (const OwnedRange& range : owned_) {
      const Made& made = *made_[static_cast<size_t>(range.param)];
      for (int64_t i = range.begin; i < range.end; ++i) {
        const double error = store_->grad(range.param)[i] - whole_gradient(made, global(range.param, i));
        largest = std::max(largest, std::abs(error));
      }
    }
    return largest;
  }
  double counted_squares(int dp_rank) const {
    const std::vector<OwnedRange> counted = counted_ranges(table_, owned_, tp_, dp_rank);
    return sum_of_squares(gradient_spans(*store_, counted), 1).value;
  }
  int dp() const { return dp_; }

 private:
  void make_plan(bool is_sharded) {
    int64_t offset = 0;
    for (const Param& param : table_.params()) {
      plan_.places.push_back({param.index, 0, offset});
      offset += (param.local_numel + 15) / 16 * 16;
      if (!is_sharded) continue;
      const auto cut =
          std::lround(made_[static_cast<size_t>(param.index)]->share * static_cast<double>(param.local_numel));
      plan_.shards.push_back({param.index, 0, 0, cut});
      plan_.shards.push_back({param.index, 1, cut, param.local_numel});
    }
    const slw_dtype fp32{SLW_CODE_FLOAT, 32, 1};
    plan_.buffers.push_back({0, fp32, fp32, offset, "dp_cp", "", -1, 0});
    plan_.buckets.push_back({0, 0, offset});
  }
  // Outside of what this rank owns it is not a number.
  void fill() {
    for (const Param& param : table_.params()) {
      std::fill_n(store_->grad(param.index), param.local_numel, std::numeric_limits<float>::quiet_NaN());
    }
    for (const OwnedRange& range : owned_) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        double sum = 0;
        for (int dp = 0; dp < kDp; ++dp) {
          sum += contribution(*made_[static_cast<size_t>(range.param)], stage_, tp_, dp, global(range.param, i));
        }
        store_->grad(range.param)[i] = static_cast<float>(sum);
      }
    }
  }
  // Rows are cut, so a rank's elements are consecutive.
  int64_t global(int32_t param, int64_t i) const {
    const bool is_cut = made_[static_cast<size_t>(param)]->is_cut;
    return is_cut ? tp_ * table_.params()[static_cast<size_t>(param)].local_numel + i : i;
  }

  int tp_, stage_, dp_;
  ParamTable table_;
  std::vector<const Made*> made_;  // by parameter
  std::vector<int32_t> shared_;
  DpPlan plan_;
  std::optional<ParamStore> store_;
  std::vector<OwnedRange> owned_;
};

class FinalizeGradients : public testing::TestWithParam<bool> {};

TEST_P(FinalizeGradients, EqualsOneProcess) {
  MeshSizes sizes;
  sizes.world = kTp * kPp * kDp;
  sizes.tp = kTp, sizes.pp = kPp;
  const Mesh mesh(sizes);
  run_ranks(sizes.world, [&](const RankEnvironment& environment) {
    Communicator comm(environment, mesh, std::chrono::seconds(20));
    Rank rank(environment, mesh, GetParam());
    rank.finalize(comm);
    EXPECT_LE(rank.largest_error(), 1e-5);
    std::vector<double> squares{rank.counted_squares(GetParam() ? rank.dp() : 0)};
    all_reduce(GetParam() ? comm.core() : *comm.core("tp_pp"), squares);
    EXPECT_NEAR(std::sqrt(squares[0]), whole_norm(), 1e-6 * whole_norm());
    // Over the whole world every element counts once as well, with shards or without.
    std::vector<double> over_world{rank.counted_squares(rank.dp())};
    all_reduce(comm.core(), over_world);
    EXPECT_NEAR(std::sqrt(over_world[0]), whole_norm(), 1e-6 * whole_norm());
  });
}

INSTANTIATE_TEST_SUITE_P(Shards, FinalizeGradients, testing::Bool(),
                         [](const auto& info) { return info.param ? "sharded" : "replicated"; });

TEST(FinalizeGradientsAlone, OneRankWithoutGroupsChangesNothing) {
  const Made vector{"norm", {4}, {0}, false, true, 1};
  ParamTable table;
  declare(vector, table);
  const slw_dtype fp32{SLW_CODE_FLOAT, 32, 1};
  DpPlan plan;
  plan.buffers.push_back({0, fp32, fp32, 16, "dp_cp", "", -1, 0});
  plan.places.push_back({0, 0, 0});
  const ParamStore store(table, plan);
  std::fill_n(store.grad(0), 4, 2.0f);
  const std::vector<OwnedRange> owned = owned_ranges(plan, table, 0);
  finalize_gradients(table, store, owned, {}, {});
  EXPECT_EQ(store.grad(0)[3], 2.0f);
  EXPECT_EQ(sum_of_squares(gradient_spans(store, counted_ranges(table, owned, 0, 0)), 1).value, 16.0);
}

}  // namespace
}  // namespace slipway
