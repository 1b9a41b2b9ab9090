// The bytes that a step hands to each collective, as the trace counts them, against the closed formulas of
// core/comm/README.md and against what `slipway plan` says. A gpt with untied embeddings and LayerNorm, no dropout.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "core/base/file.h"
#include "core/planner/layout_plan.h"
#include "core/pretrain/plan_run.h"
#include "core/pretrain/pretrain.h"
#include "core/pretrain/train_step.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_folder.h"
#include "tests/support/training_run.h"

namespace slipway {
namespace {

// group, operation -> bytes of one step
using Volumes = std::map<std::pair<std::string, std::string>, int64_t>;

constexpr int64_t kHidden = 32, kLayers = 4, kTokens = 32, kFloat = 4;  // of one microbatch of one sample

struct Layout {
  const char* name;
  int64_t tp = 1, pp = 1, dp = 1;
  bool sp = false, distopt = false, tied = false;
  int64_t vpp = 1;

  int world() const { return static_cast<int>(tp * pp * dp); }
  int64_t microbatches() const { return 8 / dp; }
  std::vector<std::string> options() const {
    std::vector<std::string> list{"--tensor-model-parallel-size",
                                  std::to_string(tp),
                                  "--pipeline-model-parallel-size",
                                  std::to_string(pp),
                                  "--train-iters",
                                  "3"};
    if (sp) list.emplace_back("--sequence-parallel");
    if (tied) list.emplace_back("--share-embeddings-and-output-weights");
    if (vpp > 1) list.insert(list.end(), {"--virtual-pipeline-model-parallel-size", std::to_string(vpp)});
    if (distopt) list.insert(list.end(), {"--data-parallel.use", "distributed_optimizer"});
    return list;
  }
};

// What the core moves for itself: single numbers over the world and over tp_pp and dp_cp, headers and losses by
// broadcast. The group of pp also serves embd where both are the same ranks.
bool is_scalar(const GroupCount& count) {
  return count.group == "core" || count.group == "core.tp_pp" || count.group == "core.dp_cp" ||
         count.op == GroupOp::kBroadcast || count.op == GroupOp::kCoalesced;
}

class Runs {
 public:
  explicit Runs(const Layout& layout) {
    nlohmann::json manifest = small_gpt_manifest();
    manifest["model"]["num_layers"] = kLayers;
    const std::string file = (folder_.path() / "manifest.json").string();
    write_file_atomic(file, manifest.dump(1), ExitCode::kUsage);
    const std::string build = std::getenv("SLIPWAY_BUILD_DIR");
    arguments_ = {"--manifest", file, "--plugin-path", build + "/lib/slipway/plugins"};
    for (const std::string& option : layout.options()) arguments_.push_back(option);
    run_ranks(layout.world(), [&](const RankEnvironment& rank) { run_rank(rank); });
    Reporter silent(-1);
    plan_ = make_layout_plan(plan_run(arguments_, {layout.world(), 1}, silent), layout.world());
  }
  const Volumes& of_rank(int rank) const { return volumes_.at(rank); }
  const LayoutPlan& plan() const { return plan_; }

 private:
  void run_rank(const RankEnvironment& rank) {
    Reporter silent(-1);
    Log log(LogLevel::kWarning);
    LaunchContext context;
    context.rank = rank;
    context.log = &log;
    auto runtime = initialize(plan_run(arguments_, {rank.world_size, rank.local_world_size}, silent), context);
    auto training = setup_model_and_optimizer(*runtime);
    auto iterators = build_iterators(*runtime, *training);
    while (has_next_step(*runtime, *training)) train_step(*runtime, *training, *iterators);
    Volumes volumes;
    for (const GroupCount& count : runtime->comm->trace().counts()) {
      if (!is_scalar(count) && count.count.step_bytes > 0) {
        volumes[{count.group, group_op_name(count.op)}] += count.count.step_bytes;
      }
    }
    Summary summary;
    summary.step = summary.saved_step = training->progress.step;
    finalize(std::move(runtime), std::move(training), std::move(iterators), summary);
    const std::lock_guard lock(mutex_);
    volumes_[rank.rank] = volumes;
  }

  TempFolder folder_;
  std::vector<std::string> arguments_;
  std::mutex mutex_;
  std::map<int, Volumes> volumes_;
  LayoutPlan plan_;
};

// What the plan says, under the names of the groups that serve it.
Volumes planned(const RankPlan& rank) {
  Volumes volumes;
  for (const CommVolume& v : rank.communication) {
    const bool finalizes = v.group == "embd" || v.group == "pp";
    volumes[{finalizes ? "core.pp" : v.group == "dp_cp" ? "dp" : v.group, v.op}] += v.bytes;
  }
  return volumes;
}

// Sums that complete gradients over tp go another way than the model's own.
Volumes merged(Volumes volumes) {
  for (const char* op : {"all_reduce"}) {
    const auto own = volumes.find({"core.tp", op});
    if (own == volumes.end()) continue;
    volumes[{"tp", op}] += own->second;
    volumes.erase(own);
  }
  return volumes;
}

class Communication : public testing::TestWithParam<Layout> {};

TEST_P(Communication, IsWhatThePlanSays) {
  const Layout& layout = GetParam();
  const Runs runs(layout);
  for (int pp = 0; pp < layout.pp; ++pp) {
    const int rank = pp * static_cast<int>(layout.tp * layout.dp);  // the first of its stage
    EXPECT_EQ(merged(runs.of_rank(rank)), planned(runs.plan().ranks[static_cast<size_t>(pp)]))
        << "pipeline rank " << pp;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Communication,
                         testing::Values(Layout{"tp2", 2}, Layout{"tp2sp", 2, 1, 1, true}, Layout{"pp2", 1, 2},
                                         Layout{"pp2vpp2", 1, 2, 1, false, false, false, 2},
                                         Layout{"pp2tied", 1, 2, 1, false, false, true}, Layout{"dp2", 1, 1, 2},
                                         Layout{"dp2distopt", 1, 1, 2, false, true},
                                         Layout{"tp2sppp2dp2distopt", 2, 2, 2, true, true, true}),
                         [](const auto& info) { return std::string(info.param.name); });

// ---- the closed formulas, written out ---------------------------------------------------------------------------

TEST(Formulas, TensorParallel) {
  const Runs runs({"tp2", 2});
  const int64_t m = 8, activation = kTokens * kHidden * kFloat;
  const int64_t sums = (4 * kLayers + 2) * activation + 3 * kTokens * kFloat;
  EXPECT_EQ(runs.of_rank(0), (Volumes{{{"tp", "all_reduce"}, m * sums}}));
}

TEST(Formulas, SequenceParallel) {
  const Runs runs({"tp2sp", 2, 1, 1, true});
  const int64_t m = 8, activation = kTokens * kHidden * kFloat;
  // Per layer two LayerNorms, the biases of both second products; the last norm; the position table.
  const int64_t partial = (kLayers * 6 * kHidden + 2 * kHidden + 32 * kHidden) * kFloat;
  const Volumes wanted{{{"tp", "reduce_scatter"}, m * (4 * kLayers + 2) * activation},
                       {{"tp", "all_gather"}, m * (6 * kLayers + 3) * activation / 2},
                       {{"tp", "all_reduce"}, m * 3 * kTokens * kFloat},
                       {{"core.tp", "all_reduce"}, partial}};
  EXPECT_EQ(runs.of_rank(0), wanted);
}

TEST(Formulas, Pipeline) {
  const Runs runs({"pp2", 1, 2});
  const int64_t m = 8, activation = kTokens * kHidden * kFloat;
  const Volumes wanted{{{"core.pp", "send"}, m * activation}, {{"core.pp", "recv"}, m * activation}};
  EXPECT_EQ(runs.of_rank(0), wanted);
  EXPECT_EQ(runs.of_rank(1), wanted);
}

// Psi: the parameters of a rank with their gaps, as its buckets hold them.
int64_t bucket_bytes(const LayoutPlan& plan) {
  int64_t elements = 0;
  for (const DpPlan::Bucket& bucket : plan.ranks.front().buckets.buckets) elements += bucket.end - bucket.begin;
  return elements * kFloat;
}

TEST(Formulas, DataParallel) {
  const Runs runs({"dp2", 1, 1, 2});
  EXPECT_EQ(runs.of_rank(1), (Volumes{{{"dp", "all_reduce"}, bucket_bytes(runs.plan())}}));
}

TEST(Formulas, DistributedOptimizer) {
  const Runs runs({"dp2distopt", 1, 1, 2, false, true});
  const int64_t psi = bucket_bytes(runs.plan());
  EXPECT_EQ(runs.of_rank(1), (Volumes{{{"dp", "reduce_scatter"}, psi}, {{"dp", "all_gather"}, psi / 2}}));
}

}  // namespace
}  // namespace slipway
