// What every data-parallel backend owes its host. Each case runs on every dp component in build/lib/slipway/plugins.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "tests/conformance/dp/dp_instance.h"

namespace {

// Sizes that are no multiples of anything, experts, a tie.
std::vector<DpTable::Row> model_rows() {
  std::vector<DpTable::Row> rows{{"embedding", 1003, "dp_cp", "word_embeddings"}, {"position", 320}};
  for (int layer = 0; layer < 6; ++layer) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    rows.push_back({prefix + "norm", 33});
    rows.push_back({prefix + "qkv", 3 * 33 * 33});
    rows.push_back({prefix + "bias", 1});
    rows.push_back({prefix + "expert_fc1", 2 * 501, "edp"});
    rows.push_back({prefix + "expert_fc2", 2 * 499, "edp"});
  }
  rows.push_back({"final_norm", 33});
  return rows;
}

// Options that make a small model have many buckets, as JSON text.
std::string options_of(const std::string& name) {
  return name == "ddp" || name == "distributed_optimizer" ? R"({"ddp_bucket_size": 2500})" : "{}";
}

// Ranks in a group of experts.
int32_t expert_ranks(int32_t world_size) { return world_size % 2 == 0 ? 2 : world_size; }

class DpConformance : public ::testing::TestWithParam<Subject> {
 protected:
  const slw_component& component() const { return *GetParam().component; }
  const slw_dp_vtable& table() const { return *static_cast<const slw_dp_vtable*>(component().vtable); }
  std::string options() const { return options_of(GetParam().name); }
};

TEST_P(DpConformance, TableIsComplete) {
  EXPECT_GE(table().struct_size, SLW_SIZE_TO(slw_dp_vtable, grad_reduce_finish));
  for (const void* slot :
       {reinterpret_cast<const void*>(table().create), reinterpret_cast<const void*>(table().destroy),
        reinterpret_cast<const void*>(table().plan), reinterpret_cast<const void*>(table().attach),
        reinterpret_cast<const void*>(table().step_begin), reinterpret_cast<const void*>(table().grad_ready),
        reinterpret_cast<const void*>(table().grad_reduce_finish)}) {
    EXPECT_NE(slot, nullptr);
  }
}

TEST_P(DpConformance, OptionsExplainThemselves) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < component().num_options; ++i) {
    const slw_option& option = *component().options[i];
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_GT(std::string(option.help).size(), 5u) << option.name;
    for (const char* json : {option.default_json, option.min_json, option.max_json}) {
      EXPECT_TRUE(json == nullptr || nlohmann::json::accept(json)) << option.name << ": " << json;
    }
  }
}

TEST_P(DpConformance, RefusesOptionsThatAreNoObject) {
  ToyHost host;
  const slw_run_info run = dp_run(1, 0);
  for (const char* config : {"", "{", "[]"}) {
    slw_dp* dp = nullptr;
    ErrorText error;
    EXPECT_EQ(table().create(host.get(), config, &run, &dp, error.get()), SLW_INVALID_ARGUMENT) << config;
    EXPECT_EQ(dp, nullptr);
    EXPECT_NE(error.text(), "");
  }
}

TEST_P(DpConformance, PlanIsTheSameOnEveryRankOfAStage) {
  ToyHost bare;  // without slw.comm/1, as offline
  const DpTable table(model_rows());
  std::set<std::string> plans;
  for (int32_t rank = 0; rank < 4; ++rank) {
    slw_run_info run = dp_run(4, rank, 2);
    run.tp_rank = run.cp_rank = run.ep_rank = rank * 7;
    run.flags = rank == 3 ? uint32_t{SLW_RUN_OFFLINE} : 0u;
    DpInstance dp(component(), bare.get(), run, options());
    plans.insert(dp.plan(table).text());
    plans.insert(dp.plan(table).text());
  }
  EXPECT_EQ(plans.size(), 1u);
}

TEST_P(DpConformance, PlacesEveryParameterOnceWithoutOverlap) {
  ToyHost bare;
  const DpTable table(model_rows());
  DpInstance dp(component(), bare.get(), dp_run(4, 1, 2), options());
  const DpRecord& plan = dp.plan(table);
  ASSERT_EQ(plan.places.size(), table.rows().size());
  std::set<int32_t> placed;
  std::vector<std::vector<bool>> taken;
  for (const DpRecord::Buffer& buffer : plan.buffers) taken.emplace_back(static_cast<std::size_t>(buffer.plan.numel));
  for (const DpRecord::Place& place : plan.places) {
    EXPECT_TRUE(placed.insert(place.param).second) << place.param;
    EXPECT_EQ(place.offset % 16, 0);
    const DpTable::Row& row = table.rows().at(static_cast<std::size_t>(place.param));
    const DpRecord::Buffer& buffer = plan.buffers.at(static_cast<std::size_t>(place.buffer));
    EXPECT_EQ(buffer.group, row.group);
    ASSERT_LE(place.offset + row.numel, buffer.plan.numel);
    for (int64_t i = place.offset; i < place.offset + row.numel; ++i) {
      std::vector<bool>::reference at = taken[static_cast<std::size_t>(place.buffer)][static_cast<std::size_t>(i)];
      ASSERT_FALSE(at) << row.name << " overlaps at " << i;
      at = true;
    }
  }
}

TEST_P(DpConformance, EveryParameterIsInOneBucketAndATieIsAlone) {
  ToyHost bare;
  const DpTable table(model_rows());
  DpInstance dp(component(), bare.get(), dp_run(4, 1, 2), options());
  const DpRecord& plan = dp.plan(table);
  std::vector<std::vector<std::size_t>> members(plan.buckets.size());
  for (const DpRecord::Place& place : plan.places) {
    const int64_t end = place.offset + table.rows()[static_cast<std::size_t>(place.param)].numel;
    int touching = 0;
    for (std::size_t b = 0; b < plan.buckets.size(); ++b) {
      const DpRecord::Bucket& bucket = plan.buckets[b];
      if (bucket.buffer != place.buffer || bucket.end <= place.offset || bucket.begin >= end) continue;
      ++touching;
      EXPECT_LE(bucket.begin, place.offset);
      EXPECT_GE(bucket.end, end);
      members[b].push_back(static_cast<std::size_t>(place.param));
    }
    EXPECT_EQ(touching, 1) << place.param;
  }
  for (const std::vector<std::size_t>& bucket : members) {
    for (const std::size_t param : bucket) {
      const bool is_tie = !table.rows()[param].tie.empty();
      EXPECT_TRUE(!is_tie || bucket.size() == 1) << table.rows()[param].name;
    }
  }
}

TEST_P(DpConformance, ShardsCoverTheirParameterOnce) {
  ToyHost bare;
  const DpTable table(model_rows());
  for (const int32_t world_size : {1, 2, 3, 4}) {
    const slw_run_info run = dp_run(world_size, 0, expert_ranks(world_size));
    DpInstance dp(component(), bare.get(), run, options());
    const DpRecord& plan = dp.plan(table);
    std::vector<std::vector<int>> times;
    for (const DpTable::Row& row : table.rows()) times.emplace_back(static_cast<std::size_t>(row.numel));
    for (const DpRecord::Shard& shard : plan.shards) {
      std::vector<int>& param = times.at(static_cast<std::size_t>(shard.param));
      const bool is_expert = table.rows()[static_cast<std::size_t>(shard.param)].group == "edp";
      EXPECT_TRUE(shard.owner >= 0 && shard.owner < (is_expert ? run.edp_size : world_size)) << shard.owner;
      EXPECT_LE(shard.begin, shard.end);
      for (int64_t i = shard.begin; i < shard.end; ++i) ++param.at(static_cast<std::size_t>(i));
    }
    for (const std::vector<int>& param : times) {
      const bool is_sharded = std::count(param.begin(), param.end(), 0) == 0;
      EXPECT_EQ(std::set<int>(param.begin(), param.end()), std::set<int>{is_sharded ? 1 : 0});
    }
  }
}

float gradient(int32_t rank, int32_t microbatch, int32_t step, int64_t element) {
  const auto mixed = static_cast<uint32_t>(element * 2654435761 + rank * 40503 + microbatch * 977 + step * 7919);
  return static_cast<float>(mixed % 2048) / 1024.0f - 1.0f;  // few bits: sums are exact in any order
}

// Shuffled differently on every rank, reported from `num_threads` threads.
void report_all(DpInstance& dp, const DpTable& table, uint32_t seed, int num_threads) {
  std::vector<int32_t> order(table.rows().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  std::vector<std::thread> threads;
  for (int t = 0; t < num_threads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = static_cast<std::size_t>(t); i < order.size(); i += static_cast<std::size_t>(num_threads)) {
        dp.ready(order[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct Steps {
  int32_t num_steps = 3, num_microbatches = 2;
  int num_threads = 1;
  bool reports = true;  // false: no gradient is reported, all are found by finish()
};

// A rank of the fake world and what it runs.
struct Participant {
  DpInstance& dp;
  const DpTable& table;
  int32_t world_size, rank;

  int64_t numel(std::size_t p) const { return table.rows()[p].numel; }
  int32_t first_of_group(std::size_t p) const {
    return table.rows()[p].group == "edp" ? rank / expert_ranks(world_size) * expert_ranks(world_size) : 0;
  }
  int32_t end_of_group(std::size_t p) const {
    return table.rows()[p].group == "edp" ? first_of_group(p) + expert_ranks(world_size) : world_size;
  }
  std::vector<DpRecord::Shard> owned(const DpRecord& plan, std::size_t p) const {
    return plan.owned(static_cast<int32_t>(p), rank - first_of_group(p), numel(p));
  }
};

void accumulate(const Participant& self, const Steps& steps, int32_t step) {
  for (int32_t m = 0; m < steps.num_microbatches; ++m) {
    for (std::size_t p = 0; p < self.table.rows().size(); ++p) {
      float* grad = self.dp.grad(static_cast<int32_t>(p));
      for (int64_t i = 0; i < self.numel(p); ++i) grad[i] += gradient(self.rank, m, step, i);
      if (m + 1 < steps.num_microbatches) self.dp.ready(static_cast<int32_t>(p), false);
    }
  }
}

void expect_sums(const Participant& self, const DpRecord& plan, const Steps& steps, int32_t step) {
  for (std::size_t p = 0; p < self.table.rows().size(); ++p) {
    const float* grad = self.dp.grad(static_cast<int32_t>(p));
    for (const DpRecord::Shard& shard : self.owned(plan, p)) {
      for (int64_t i = shard.begin; i < shard.end; ++i) {
        float expected = 0.0f;
        for (int32_t r = self.first_of_group(p); r < self.end_of_group(p); ++r) {
          for (int32_t m = 0; m < steps.num_microbatches; ++m) expected += gradient(r, m, step, i);
        }
        ASSERT_EQ(grad[i], expected) << self.table.rows()[p].name << " [" << i << "] on rank " << self.rank << ", step "
                                     << step;
      }
    }
  }
}

// Each rank changes what it owns; after the gather every rank sees every change, whatever it waits for first.
void update_and_gather(const Participant& self, const DpRecord& plan, int32_t step) {
  const auto updated = [&](std::size_t p, int64_t i) {
    return static_cast<float>(step * 1'000'000 + self.first_of_group(p) * 100'000 + static_cast<int32_t>(p)) +
           static_cast<float>(i % 8) / 8.0f;
  };
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < self.table.rows().size(); ++p) {
    order.push_back(p);
    float* values = self.dp.param(static_cast<int32_t>(p));
    for (const DpRecord::Shard& shard : self.owned(plan, p)) {
      for (int64_t i = shard.begin; i < shard.end; ++i) values[i] = updated(p, i);
    }
  }
  self.dp.gather_start();
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<uint32_t>(step * 31 + self.rank)));
  for (const std::size_t p : order) {
    self.dp.gather_wait(static_cast<int32_t>(p));
    const float* values = self.dp.param(static_cast<int32_t>(p));
    for (int64_t i = 0; i < self.numel(p); ++i) {
      ASSERT_EQ(values[i], updated(p, i)) << self.table.rows()[p].name << " [" << i << "] on rank " << self.rank;
    }
  }
  self.dp.gather_wait(-1);
}

// Runs one rank and compares what it owns with the naive sum.
void run_rank(const Participant& self, const Steps& steps) {
  const DpRecord plan = self.dp.plan(self.table);
  self.dp.attach();
  for (int32_t step = 0; step < steps.num_steps; ++step) {
    self.dp.zero_grads();
    self.dp.step_begin();
    accumulate(self, steps, step);
    const auto seed = static_cast<uint32_t>(step * 31 + self.rank);
    if (steps.reports) report_all(self.dp, self.table, seed, steps.num_threads);
    self.dp.finish();
    expect_sums(self, plan, steps, step);
    if (self.dp.gathers()) update_and_gather(self, plan, step);
  }
}

void run_world(const Subject& subject, int32_t world_size, const Steps& steps) {
  FakeWorld world(world_size, expert_ranks(world_size));
  const DpTable table(model_rows());
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::vector<std::string> failures;
  for (int32_t rank = 0; rank < world_size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        const slw_run_info run = dp_run(world_size, rank, expert_ranks(world_size));
        DpInstance dp(*subject.component, world.rank(rank).get(), run, options_of(subject.name));
        run_rank({dp, table, world_size, rank}, steps);
      } catch (const std::exception& failure) {
        const std::lock_guard<std::mutex> lock(mutex);
        failures.emplace_back(failure.what());
        world.break_down();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) ADD_FAILURE() << failure;
  for (int32_t rank = 0; rank < world_size; ++rank) EXPECT_EQ(world.rank(rank).num_live_works(), 0);
}

TEST_P(DpConformance, SumsLikeANaiveSumInAnyOrderOfReadiness) {
  for (const int32_t world_size : {1, 2, 3, 4}) run_world(GetParam(), world_size, {});
}

TEST_P(DpConformance, GradientsMayBeReportedFromSeveralThreads) { run_world(GetParam(), 2, {4, 1, 3}); }

TEST_P(DpConformance, UnreportedGradientsAreReducedAtTheEnd) { run_world(GetParam(), 2, {2, 1, 1, false}); }

// The caller says what comes before and what has to fail.
slw_status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const slw::Error& failure) {
    EXPECT_STRNE(failure.what(), "");
    return failure.code();
  }
  return SLW_OK;
}

TEST_P(DpConformance, CallsOutOfOrderAreRefused) {
  FakeWorld world(1, 1);
  const DpTable table(model_rows());
  DpInstance dp(component(), world.rank(0).get(), dp_run(1, 0), options());
  EXPECT_EQ(status_of([&] { dp.attach({}); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.step_begin(); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.ready(0); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.finish(); }), SLW_PRECONDITION);
  dp.plan(table);
  dp.attach();
  EXPECT_EQ(status_of([&] { dp.ready(0); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.finish(); }), SLW_PRECONDITION);
  dp.step_begin();
  EXPECT_EQ(status_of([&] { dp.step_begin(); }), SLW_PRECONDITION);
  dp.ready(0);
  EXPECT_EQ(status_of([&] { dp.ready(0); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.ready(1000); }), SLW_INVALID_ARGUMENT);
  dp.finish();
  dp.step_begin();
  dp.ready(0);
  dp.finish();
}

TEST_P(DpConformance, CommunicationFailuresAreReported) {
  const DpTable table(model_rows());
  for (const bool reports : {true, false}) {
    FakeWorld world(2, 2);
    world.rank(0).fail_at(0);
    DpInstance dp(component(), world.rank(0).get(), dp_run(2, 0, 2), options());
    dp.plan(table);
    dp.attach();
    dp.step_begin();
    const slw_status first = status_of([&] {
      for (std::size_t p = 0; reports && p < table.rows().size(); ++p) dp.ready(static_cast<int32_t>(p));
      dp.finish();
    });
    EXPECT_EQ(first, SLW_COMM);
    EXPECT_EQ(status_of([&] { dp.finish(); }), SLW_COMM);
  }
}

TEST_P(DpConformance, APeerThatIsGoneIsReported) {
  const DpTable table(model_rows());
  FakeWorld world(2, 2);
  DpInstance dp(component(), world.rank(0).get(), dp_run(2, 0, 2), options());
  dp.plan(table);
  dp.attach();
  dp.step_begin();
  world.break_down();
  EXPECT_EQ(status_of([&] { dp.finish(); }), SLW_COMM);
}

TEST_P(DpConformance, GathersOutOfOrderAreRefused) {
  FakeWorld world(1, 1);
  const DpTable table(model_rows());
  DpInstance dp(component(), world.rank(0).get(), dp_run(1, 0), options());
  if (!dp.gathers()) return;
  EXPECT_EQ(status_of([&] { dp.gather_start(); }), SLW_PRECONDITION);
  EXPECT_EQ(status_of([&] { dp.gather_wait(0); }), SLW_PRECONDITION);
  dp.plan(table);
  dp.attach();
  dp.gather_wait(0);
  dp.gather_wait(-1);
  EXPECT_EQ(status_of([&] { dp.gather_wait(1000); }), SLW_INVALID_ARGUMENT);
}

TEST_P(DpConformance, GatherFailuresAreReported) {
  const DpTable table(model_rows());
  FakeWorld world(2, 2);
  world.rank(0).fail_at(1);
  DpInstance dp(component(), world.rank(0).get(), dp_run(2, 0, 2), options());
  dp.plan(table);
  dp.attach();
  if (!dp.gathers()) return;
  EXPECT_EQ(status_of([&] { dp.gather_start(); }), SLW_COMM);
  world.break_down();
  EXPECT_EQ(status_of([&] { dp.gather_wait(-1); }), SLW_COMM);
  EXPECT_EQ(status_of([&] { dp.gather_start(); }), SLW_COMM);
}

TEST_P(DpConformance, RefusesBuffersThatWereNotPlanned) {
  FakeWorld world(1, 1);
  const DpTable table(model_rows());
  DpInstance dp(component(), world.rank(0).get(), dp_run(1, 0), options());
  const int64_t numel = dp.plan(table).buffers[0].plan.numel;
  EXPECT_EQ(status_of([&] { dp.attach({}); }), SLW_INVALID_ARGUMENT);
  std::vector<slw_buffer> wrong(dp.plan(table).buffers.size(), slw::make<slw_buffer>());
  std::vector<const slw_buffer*> pointers;
  for (const slw_buffer& buffer : wrong) pointers.push_back(&buffer);
  EXPECT_EQ(status_of([&] { dp.attach(pointers); }), SLW_INVALID_ARGUMENT);
  float memory = 0;
  int64_t one = 1, shape = numel - 1;
  wrong[0].grad = {&memory, {SLW_DEVICE_CPU, 0}, 1, slw::f32, &shape, &one, 0};
  EXPECT_EQ(status_of([&] { dp.attach(pointers); }), SLW_INVALID_ARGUMENT);
}

TEST_P(DpConformance, RefusesATableThatContradictsItself) {
  ToyHost bare;
  DpInstance dp(component(), bare.get(), dp_run(1, 0), options());
  DpTable empty_param({{"a", 0}});
  EXPECT_EQ(status_of([&] { dp.plan(empty_param); }), SLW_INVALID_ARGUMENT);
  DpTable without_group({{"a", 5}});
  without_group.param(0).group = nullptr;
  EXPECT_EQ(status_of([&] { dp.plan(without_group); }), SLW_INVALID_ARGUMENT);
  DpTable twice({{"a", 5}, {"b", 5}});
  twice.param(1).index = 0;
  EXPECT_EQ(status_of([&] { dp.plan(twice); }), SLW_INVALID_ARGUMENT);
}

INSTANTIATE_TEST_SUITE_P(Plugins, DpConformance, ::testing::ValuesIn(built_components(SLW_KIND_DP)),
                         [](const auto& info) { return info.param.name; });

}  // namespace
