// Every way in which a file can fail to be a plugin of this host is told apart, before any of it runs where possible.
#include "core/plugin_host/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/plugin_host/registry.h"
#include "tests/support/long.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr const char* kLibtorch = "2.11.0+test";

std::string toy(const std::string& name) {
  return std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/tests/plugins/libslipway_" + name + ".so";
}

// What loading says; "" when it works.
std::string refusal(const std::string& path) {
  Reporter silent(-1);
  try {
    load_library(inspect_library(path, kLibtorch), silent);
    return "";
  } catch (const PluginError& error) {
    return error.what();
  } catch (const Error& error) {
    return error.code() == ExitCode::kPlugin ? error.what() : std::string("another kind of error: ") + error.what();
  }
}

::testing::Matcher<const std::string&> names(const std::string& part) { return ::testing::HasSubstr(part); }

TEST(Library, LoadsAPluginOnce) {
  Reporter silent(-1);
  const LibraryFile file = inspect_library(toy("good"), kLibtorch);
  EXPECT_EQ(file.abi_major, SLW_ABI_MAJOR);
  EXPECT_EQ(file.abi_minor, SLW_ABI_MINOR);
  EXPECT_EQ(file.sha256.size(), 64u);
  EXPECT_EQ(&load_library(file, silent), &load_library(file, silent));
}

TEST(Library, NamesWhatIsWrong) {
  EXPECT_THAT(refusal(toy("no_entry")), names("does not export slw_plugin_v0"));
  EXPECT_THAT(refusal(toy("next_major")), names("slw_plugin_v1"));
  EXPECT_THAT(refusal(toy("other_minor")), names("this slipway provides 0.3"));
  EXPECT_THAT(refusal(toy("other_libtorch")), names("built with LibTorch"));
  EXPECT_THAT(refusal(toy("null_slot")), names("which is required"));
  EXPECT_THAT(refusal(toy("twin_names")), names("stands twice"));
  EXPECT_THAT(refusal(toy("unknown_kind")), names("does not know"));
  EXPECT_THAT(refusal(toy("init_fails")), names("plugin "));
  EXPECT_THAT(refusal("/no/such/file.so"), names("does not exist"));
}

TEST(Library, RefusesFilesThatAreNoSharedObjects) {
  const TempFolder folder;
  const std::string text = (folder.path() / "text.so").string(), cut = (folder.path() / "cut.so").string();
  write_file_atomic(text, "not a library", ExitCode::kPlugin);
  EXPECT_THAT(refusal(text), names("no ELF file"));
  EXPECT_THAT(refusal(folder.path().string()), names("it is a folder"));
  EXPECT_THAT(refusal("/proc/self/exe"), names("is not a plugin"));
  const std::string whole = read_file(toy("good"), ExitCode::kPlugin);
  for (const size_t bytes : {size_t{20}, size_t{64}, size_t{1000}, whole.size() / 2, whole.size() - 100}) {
    write_file_atomic(cut, whole.substr(0, bytes), ExitCode::kPlugin);
    EXPECT_NE(refusal(cut), "") << bytes;
  }
}

// Any single damaged byte of the first header, in the long test of the whole file, gives an error or a plugin, never a
// crash of the reader.
TEST(Library, SurvivesDamagedHeaders) {
  const TempFolder folder;
  const std::string path = (folder.path() / "damaged.so").string();
  const std::string whole = read_file(toy("good"), ExitCode::kPlugin);
  for (size_t i = 0; i < rounds(size_t{64}, whole.size()); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    std::ofstream(path, std::ios::binary) << damaged;
    try {
      inspect_library(path, kLibtorch);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::kPlugin) << error.what();
    }
  }
}

TEST(PluginRegistry, FindsByNameAndOffersTheNearest) {
  Reporter silent(-1);
  PluginRegistry registry({std::string(std::getenv("SLIPWAY_BUILD_DIR")) + "/tests/plugins"}, kLibtorch, silent);
  try {
    registry.find("slw.dataset/1", "goood");
    FAIL() << "found";
  } catch (const PluginError& error) {
    EXPECT_THAT(std::string(error.what()), names("did you mean \"good\""));
  }
}

TEST(PluginRegistry, ComparesAPinBeforeLoading) {
  Reporter silent(-1);
  PluginRegistry registry({}, kLibtorch, silent);
  EXPECT_THROW(registry.load(toy("good"), std::string(64, '0')), PluginError);
  EXPECT_TRUE(registry.loaded().empty());
}

}  // namespace
}  // namespace slipway
