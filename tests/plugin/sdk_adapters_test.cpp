// The adapters: which slots a class fills, that its exceptions become statuses, that structs are checked on the way in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <slipway/sdk.hpp>

#include "tests/plugin/loaded_plugin.h"
#include "tests/plugin/toy_host.h"

namespace {

using ::testing::HasSubstr;

struct BareDataset {
  static constexpr uint32_t kFlags = SLW_DS_ORDERED;
  BareDataset(slw::Host, const slw::Config& config, const slw_dataset_args& args)
      : seq_length(args.seq_length + config.integer("more")) {}
  slw_dataset_info info() const {
    slw_dataset_info info = slw::make<slw_dataset_info>();
    info.vocab_size = seq_length;
    return info;
  }
  void fields(slw::Fields& fields) const { fields.add("tokens", slw::i64, {seq_length}, 1); }
  void build(const slw_build_args&) { throw slw::Error(SLW_INVALID_ARGUMENT, "nothing to read"); }
  void get(const slw_get_args&) const { throw 1; }
  int64_t seq_length;
};

struct FullDataset : BareDataset {
  static constexpr uint32_t kFlags = SLW_DS_NEEDS_PREPARE;
  using BareDataset::BareDataset;
  void prepare(const slw_build_args&) {}
  void batch_shape(const slw_get_args&) const {}
  std::string describe_sample(int64_t index) const { return slw::cat("{\"i\": ", index, "}"); }
  std::string fingerprint() const { return "print"; }
};

struct BareModel {
  BareModel(slw::Host, const slw::Config&, const slw_run_info&) {}
  slw_model_info describe() { return slw::make<slw_model_info>(); }
  void declare(const slw_stage&, slw::ParamSink&) {}
  void io_spec(const slw_io_args&, slw::IoSink&) {}
  void bind(const slw_bind_args&) {}
  void forward(const slw_forward_args&) {}
  void backward(const slw_backward_args&) {}
  void discard(const slw_stage&, int32_t) noexcept {}
};

struct StepModel : BareModel {
  using BareModel::BareModel;
  void step_end(const slw_step_info&) {}
};

struct BareOptimizer {
  BareOptimizer(slw::Host, const slw::Config&, const slw_run_info&) {}
  void declare(const slw_param_decl&, slw::StateSink& states) { states.slot("exp_avg", slw::f32); }
  void step(const slw_opt_step_args&) {}
};

struct PickyOptimizer : BareOptimizer {
  using BareOptimizer::BareOptimizer;
  bool claims(const slw_param_decl& decl) const noexcept { return decl.ndim == 2; }
};

struct BareBackend {
  BareBackend(slw::Host, const slw::Config&, const slw_run_info&) {}
  void plan(slw::Items<const slw_dp_param> params, slw::PlanSink&) { num_params = params.size(); }
  void attach(const slw_attach_args&) {}
  void step_begin(const slw_stream*) {}
  void grad_ready(const slw_ready_args&) {}
  void grad_reduce_finish(const slw_stream*) {}
  std::size_t num_params = 0;
};

template <class D>
class DatasetHandle {
 public:
  explicit DatasetHandle(const char* config) {
    slw_dataset_args args = slw::make<slw_dataset_args>();
    args.seq_length = 4;
    status_ = table_.create(host_.get(), config, &args, &handle_, error_.get());
  }
  ~DatasetHandle() {
    if (handle_ != nullptr) table_.destroy(handle_);
  }
  const slw_dataset_vtable table_ = slw::DatasetOf<D>::table();
  ToyHost host_;
  ErrorText error_;
  slw_dataset* handle_ = nullptr;
  slw_status status_;
};

TEST(SdkAdapters, FillOnlyTheSlotsThatTheClassHas) {
  const slw_dataset_vtable bare = slw::DatasetOf<BareDataset>::table(), full = slw::DatasetOf<FullDataset>::table();
  EXPECT_FALSE(bare.prepare || bare.batch_shape || bare.describe_sample || bare.fingerprint);
  EXPECT_TRUE(full.prepare && full.batch_shape && full.describe_sample && full.fingerprint);
  EXPECT_EQ(bare.struct_size, SLW_SIZE_TO(slw_dataset_vtable, fingerprint));
  EXPECT_EQ(bare.flags, static_cast<uint32_t>(SLW_DS_ORDERED));
  const slw_model_vtable bare_model = slw::ModelOf<BareModel>::table(), step_model = slw::ModelOf<StepModel>::table();
  EXPECT_FALSE(bare_model.step_end || bare_model.step_begin || bare_model.cost || bare_model.init_param);
  EXPECT_TRUE(step_model.step_end);
  const slw_optimizer_vtable bare_optimizer = slw::OptimizerOf<BareOptimizer>::table();
  const slw_optimizer_vtable picky_optimizer = slw::OptimizerOf<PickyOptimizer>::table();
  EXPECT_FALSE(bare_optimizer.claims);
  EXPECT_TRUE(picky_optimizer.claims);
  const slw_dp_vtable backend = slw::DpOf<BareBackend>::table();
  EXPECT_FALSE(backend.unit_acquire || backend.param_gather_start);
}

TEST(SdkAdapters, FailedCreateGivesATextAndNoInstance) {
  DatasetHandle<BareDataset> dataset("{}");
  EXPECT_EQ(dataset.status_, SLW_INVALID_ARGUMENT);
  EXPECT_EQ(dataset.handle_, nullptr);
  EXPECT_EQ(dataset.error_.text(), "option 'more' is missing");
}

TEST(SdkAdapters, ExceptionsBecomeStatuses) {
  DatasetHandle<BareDataset> dataset(R"({"more": 1})");
  ASSERT_EQ(dataset.status_, SLW_OK);
  const slw_build_args build = slw::make<slw_build_args>();
  const slw_get_args get = slw::make<slw_get_args>();
  EXPECT_EQ(dataset.table_.build(dataset.handle_, &build, dataset.error_.get()), SLW_INVALID_ARGUMENT);
  EXPECT_EQ(dataset.error_.text(), "nothing to read");
  EXPECT_EQ(dataset.table_.get(dataset.handle_, &get, nullptr), SLW_INTERNAL);
}

TEST(SdkAdapters, UnknownFlagsAndTailsAreUnsupported) {
  DatasetHandle<BareDataset> dataset(R"({"more": 1})");
  slw_get_args get = slw::make<slw_get_args>();
  get.flags = 1u << 3;
  EXPECT_EQ(dataset.table_.get(dataset.handle_, &get, dataset.error_.get()), SLW_UNSUPPORTED);
  EXPECT_THAT(dataset.error_.text(), HasSubstr("slw_get_args"));
  get.flags = 0;
  get.struct_size -= 8;
  EXPECT_EQ(dataset.table_.get(dataset.handle_, &get, dataset.error_.get()), SLW_UNSUPPORTED);
}

TEST(SdkAdapters, TextAnswersSayHowLongTheyAre) {
  DatasetHandle<FullDataset> dataset(R"({"more": 1})");
  uint64_t needed = 0;
  char small[4] = "zzz";
  EXPECT_EQ(dataset.table_.describe_sample(dataset.handle_, 7, small, sizeof small, &needed, nullptr), SLW_OK);
  EXPECT_EQ(needed, sizeof "{\"i\": 7}");
  EXPECT_STREQ(small, "{\"i");
  EXPECT_EQ(dataset.table_.fingerprint(dataset.handle_, nullptr, 0, &needed, nullptr), SLW_OK);
  EXPECT_EQ(needed, 6u);
}

TEST(SdkAdapters, PlanGetsTheParametersAsARange) {
  const slw_dp_vtable table = slw::DpOf<BareBackend>::table();
  ToyHost host;
  const slw_run_info run = slw::make<slw_run_info>();
  slw_dp* backend = nullptr;
  ASSERT_EQ(table.create(host.get(), "{}", &run, &backend, nullptr), SLW_OK);
  const slw_dp_param param = slw::make<slw_dp_param>();
  const slw_dp_param* const params[] = {&param, &param};
  slw_plan_sink sink = slw::make<slw_plan_sink>();
  EXPECT_EQ(table.plan(backend, 2, params, &sink, nullptr), SLW_OK);
  EXPECT_EQ(reinterpret_cast<BareBackend*>(backend)->num_params, 2u);
  table.destroy(backend);
}

constexpr slw_component kBare = slw::dataset<BareDataset>({"bare", "A dataset.", 3}, slw::NoOptions{});
constexpr slw::About kAbout{"org.slipway.tests.sdk", "1.2.3", "tests"};
constexpr const slw_component* kComponents[] = {&kBare};
constexpr slw_plugin kPlugin = slw::plugin(kAbout, 1, kComponents);

TEST(SdkAdapters, DescriptorIsAConstant) {
  static_assert(kPlugin.abi_major == SLW_ABI_MAJOR && kPlugin.abi_minor == SLW_ABI_MINOR);
  static_assert(kPlugin.struct_size == SLW_SIZE_TO(slw_plugin, deinit));
  EXPECT_STREQ(kPlugin.components[0]->kind, SLW_KIND_DATASET);
  EXPECT_EQ(kPlugin.components[0]->state_version, 3u);
  EXPECT_EQ(kPlugin.components[0]->num_options, 0u);
}

}  // namespace
