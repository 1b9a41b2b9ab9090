// The toy plugins are wrong in the way they claim, and only in that: the loader's tests build on it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

std::string toy(const std::string& name) {
  return std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/tests/plugins/libslipway_" + name + ".so";
}

// nullptr: the file does not export it.
const void* exported(const std::string& name, const char* symbol) {
  void* library = ::dlopen(toy(name).c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << ::dlerror();
  return library == nullptr ? nullptr : ::dlsym(library, symbol);
}

TEST(Toys, GoodOneWorks) {
  DatasetInstance dataset(find_component(load_plugin(toy("good")), SLW_KIND_DATASET, "toy"), "{}", 4);
  dataset.build({10});
  EXPECT_EQ(dataset.get({3}).at("bytes"), std::vector<unsigned char>(4, 3));
  EXPECT_THROW(dataset.get({10}), CallFailed);
}

TEST(Toys, EntrySymbolsAreAsClaimed) {
  EXPECT_EQ(exported("no_entry", "slw_plugin_v0"), nullptr);
  EXPECT_EQ(exported("no_entry", "slipway_toy_answer"), nullptr) << "the version script hides everything else";
  EXPECT_EQ(exported("next_major", "slw_plugin_v0"), nullptr);
  EXPECT_NE(exported("next_major", "slw_plugin_v1"), nullptr);
  EXPECT_EQ(load_plugin(toy("other_minor")).abi_minor, SLW_ABI_MINOR + 1);
}

TEST(Toys, LibtorchPinIsReadable) {
  const void* needs = exported("other_libtorch", "slw_plugin_requires_v0");
  ASSERT_NE(needs, nullptr);
  EXPECT_NE(std::strstr(static_cast<const char*>(needs), "1.0.0+none"), nullptr);
}

TEST(Toys, ComponentsAreAsClaimed) {
  const auto* table = static_cast<const slw_dataset_vtable*>(load_plugin(toy("null_slot")).components[0]->vtable);
  EXPECT_EQ(table->get, nullptr);
  const slw_plugin& twins = load_plugin(toy("twin_names"));
  ASSERT_EQ(twins.num_components, 2u);
  EXPECT_STREQ(twins.components[0]->name, twins.components[1]->name);
  EXPECT_STREQ(load_plugin(toy("unknown_kind")).components[0]->kind, "slw.teapot/1");
}

TEST(Toys, InitFailsWithItsText) {
  ToyHost host;
  ErrorText error;
  EXPECT_EQ(load_plugin(toy("init_fails")).init(host.get(), error.get()), SLW_IO);
  EXPECT_EQ(error.text(), "the toy needs /dev/toy, which is not there; plug the toy in");
  EXPECT_EQ(load_plugin(toy("good")).init(host.get(), error.get()), SLW_OK);
  EXPECT_EQ(host.log_lines().size(), 1u);
}

TEST(ToysDeathTest, InitCrashes) {
  ToyHost host;
  const slw_plugin& plugin = load_plugin(toy("init_crashes"));
  EXPECT_DEATH(plugin.init(host.get(), nullptr), "");
}

}  // namespace
