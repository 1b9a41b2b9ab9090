// Components and the exported symbol.
#pragma once

#include <slipway/sdk/dataset.hpp>
#include <slipway/sdk/dp.hpp>
#include <slipway/sdk/model.hpp>
#include <slipway/sdk/optimizer.hpp>
#include <slipway/sdk/options.hpp>
#include <slipway/sdk/tokenizer.hpp>

SLW_SDK_BEGIN

// Who made a plugin. id: reverse domain name. init and deinit may stay nullptr.
struct About {
  const char* id;
  const char* version;
  const char* vendor;
  const char* url = nullptr;
  const char* license = nullptr;
  slw_status (*init)(const slw_host*, slw_error*) = nullptr;
  void (*deinit)() = nullptr;
};

template <class Class>
inline constexpr slw_dataset_vtable dataset_table = DatasetOf<Class>::table();
template <class Class>
inline constexpr slw_model_vtable model_table = ModelOf<Class>::table();
template <class Class>
inline constexpr slw_optimizer_vtable optimizer_table = OptimizerOf<Class>::table();
template <class Class>
inline constexpr slw_dp_vtable dp_table = DpOf<Class>::table();
template <class Class>
inline constexpr slw_tokenizer_vtable tokenizer_table = TokenizerOf<Class>::table();

// What stands in slw_component beside the v-table. state_version: of what the component stores in checkpoints.
struct Provider {
  const char* name;
  const char* summary;
  uint32_t state_version = 0;
};

template <class Table>
constexpr slw_component component(const char* kind, Provider provider, const Table& options, const void* vtable) {
  slw_component row = make<slw_component>();
  row.kind = kind;
  row.name = provider.name;
  row.summary = provider.summary;
  row.options = options.data();
  row.num_options = options.size();
  row.state_version = provider.state_version;
  row.vtable = vtable;
  return row;
}

// constexpr slw_component kMock = slw::dataset<Mock>({"mock", "Made-up samples."}, kOptions);
template <class Class, class Table>
constexpr slw_component dataset(Provider provider, const Table& options) {
  return component(SLW_KIND_DATASET, provider, options, &dataset_table<Class>);
}
template <class Class, class Table>
constexpr slw_component model(Provider provider, const Table& options) {
  return component(SLW_KIND_MODEL, provider, options, &model_table<Class>);
}
template <class Class, class Table>
constexpr slw_component optimizer(Provider provider, const Table& options) {
  return component(SLW_KIND_OPTIMIZER, provider, options, &optimizer_table<Class>);
}
template <class Class, class Table>
constexpr slw_component dp(Provider provider, const Table& options) {
  return component(SLW_KIND_DP, provider, options, &dp_table<Class>);
}

template <class Class, class Table>
constexpr slw_component tokenizer(Provider provider, const Table& options) {
  return component(SLW_KIND_TOKENIZER, provider, options, &tokenizer_table<Class>);
}

constexpr slw_plugin plugin(const About& about, uint32_t num_components, const slw_component* const* components) {
  slw_plugin p = make<slw_plugin>();
  p.abi_major = SLW_ABI_MAJOR;
  p.abi_minor = SLW_ABI_MINOR;
  p.min_host_minor = SLW_ABI_MINOR;
  p.num_components = num_components;
  p.components = components;
  p.id = about.id;
  p.version = about.version;
  p.vendor = about.vendor;
  p.url = about.url;
  p.license = about.license;
  p.init = about.init;
  p.deinit = about.deinit;
  return p;
}

SLW_SDK_END

// Exports the plugin, once per shared object, outside any namespace: SLW_PLUGIN(kAbout, &kMock, &kOther).
// All are constants with static storage; the descriptor is data in the file, not made at run time.
#define SLW_PLUGIN(about, ...)                                            \
  static constexpr const slw_component* slw_components[] = {__VA_ARGS__}; \
  extern "C" constexpr slw_plugin slw_plugin_v0 =                         \
      slw::plugin(about, sizeof(slw_components) / sizeof(slw_components[0]), slw_components)

// For plugins that link LibTorch, beside SLW_PLUGIN: names the exact build, which the host compares before it loads.
#define SLW_REQUIRES_LIBTORCH(build) \
  extern "C" constexpr char slw_plugin_requires_v0[] = "{\"libtorch\": \"" build "\"}"
