// The data-parallel backends on real groups: Gloo between ranks that are threads.
#include <gtest/gtest.h>

#include "core/comm/comm_service.h"
#include "core/comm/communicator.h"
#include "tests/conformance/dp/dp_instance.h"
#include "tests/support/ranks.h"

namespace slipway {
namespace {

constexpr std::chrono::seconds kTimeout{20};
constexpr int32_t kParams = 7;

// A host that offers one rank's communicator.
class CommHost {
 public:
  explicit CommHost(const Communicator& comm) : comm_(comm), host_(*toy_.get()) {
    host_.impl = this;
    host_.get_service = [](const slw_host* host, const char* id) -> const void* {
      return std::string(id) == SLW_SERVICE_COMM ? &of(host).service_ : nullptr;
    };
  }
  const slw_host* get() const { return &host_; }

 private:
  static const CommHost& of(const slw_host* host) { return *static_cast<const CommHost*>(host->impl); }
  static const slw_group* find(const slw_host* host, const char* name) {
    Group* group = of(host).comm_.group(name);
    return group == nullptr ? nullptr : as_slw_group(group);
  }

  const Communicator& comm_;
  ToyHost toy_;
  slw_host host_;
  slw_comm service_ = make_comm_service(find);
};

int64_t numel(int32_t param) { return 100 + 77 * param; }

std::vector<DpTable::Row> rows() {
  std::vector<DpTable::Row> rows;
  for (int32_t p = 0; p < kParams; ++p) rows.push_back({"p" + std::to_string(p), numel(p)});
  return rows;
}

// One step; afterwards every rank has to see what each owner did with its sums.
void step(DpInstance& dp, const DpRecord& plan, int rank, int world) {
  for (int32_t p = 0; p < kParams; ++p) {
    for (int64_t i = 0; i < numel(p); ++i) dp.grad(p)[i] = static_cast<float>((i + p) * (rank + 1));
  }
  dp.step_begin();
  for (int32_t p = kParams; p-- > 0;) dp.ready(p);
  dp.finish();
  const float factors = 0.5f * static_cast<float>(world * (world + 1));
  for (int32_t p = 0; p < kParams; ++p) {
    for (const DpRecord::Shard& shard : plan.owned(p, rank, numel(p))) {
      for (int64_t i = shard.begin; i < shard.end; ++i) dp.param(p)[i] -= dp.grad(p)[i];
    }
  }
  if (dp.gathers()) dp.gather_start();
  for (int32_t p = 0; p < kParams; ++p) {
    if (dp.gathers()) dp.gather_wait(p);
    for (int64_t i = 0; i < numel(p); ++i) {
      ASSERT_EQ(dp.param(p)[i], -factors * static_cast<float>(i + p)) << "parameter " << p << ", element " << i;
    }
  }
}

class DataParallel : public testing::TestWithParam<const char*> {};

TEST_P(DataParallel, UpdatesOnEveryRankAreWhole) {
  const std::string name = GetParam();
  const slw_plugin& plugin = load_plugin(built_plugins_dir() + "libslipway_" + name + ".so");
  const slw_component& component = find_component(plugin, SLW_KIND_DP, name);
  for (const int world : {1, 2, 3, 4}) {
    MeshSizes sizes;
    sizes.world = world;
    run_ranks(world, [&](const RankEnvironment& environment) {
      const Communicator comm(environment, Mesh(sizes), kTimeout);
      const CommHost host(comm);
      const DpTable table(rows());
      DpInstance dp(component, host.get(), dp_run(world, environment.rank), R"({"ddp_bucket_size": 500})");
      const DpRecord plan = dp.plan(table);
      EXPECT_GT(plan.buckets.size(), 2u);
      dp.attach();
      step(dp, plan, environment.rank, world);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Plugins, DataParallel, testing::Values("ddp", "distributed_optimizer"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace slipway
