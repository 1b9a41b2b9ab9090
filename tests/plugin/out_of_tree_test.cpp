// A plugin author's way: install Slipway's plugin API, find_package(slipway), slipway_add_plugin, build, load.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/plugin/dataset_instance.h"
#include "tests/plugin/loaded_plugin.h"

namespace {

namespace fs = std::filesystem;

class OutOfTree : public ::testing::Test {
 protected:
  OutOfTree()
      : folder_(fs::temp_directory_path() / ("slipway_out_of_tree_" + std::to_string(::getpid()))),
        source_(std::getenv("SLIPWAY_SOURCE_DIR")),
        build_(std::getenv("SLIPWAY_BUILD_DIR")) {
    fs::create_directories(folder_);
  }
  ~OutOfTree() override { fs::remove_all(folder_); }

  void run(const std::string& arguments) const {
    const std::string log = (folder_ / "log.txt").string();
    const std::string command = "'" SLIPWAY_CMAKE_COMMAND "' " + arguments + " > '" + log + "' 2>&1";
    const int status = std::system(command.c_str());
    std::ifstream file(log);
    ASSERT_EQ(status, 0) << command << "\n" << std::string(std::istreambuf_iterator<char>(file), {});
  }
  void install() const {
    const std::string script = (build_ / "plugin_api" / "cmake_install.cmake").string();
    run("'-DCMAKE_INSTALL_PREFIX=" + (folder_ / "prefix").string() + "' -P '" + script + "'");
  }
  // Builds a copy of plugins/examples/NAME and gives the path of what came out.
  std::string build(const std::string& name) const {
    const fs::path copy = folder_ / name, out = folder_ / (name + "_build");
    fs::copy(source_ / "plugins" / "examples" / name, copy);
    run("-G '" SLIPWAY_CMAKE_GENERATOR "' -S '" + copy.string() + "' -B '" + out.string() +
        "' '-DCMAKE_PREFIX_PATH=" + (folder_ / "prefix").string() + "'");
    run("--build '" + out.string() + "'");
    return (out / "lib" / "slipway" / "plugins" / ("libslipway_" + name + ".so")).string();
  }

  fs::path folder_, source_, build_;
};

TEST_F(OutOfTree, ExamplesBuildAgainstTheInstalledHeaders) {
  install();
  const slw_plugin& data = load_plugin(build("copy_task"));
  DatasetInstance dataset(find_component(data, SLW_KIND_DATASET, "copy_task"), "{}", 8);
  dataset.build({4});
  EXPECT_EQ(dataset.get_i64("tokens", {1}).size(), 8u);
  EXPECT_STREQ(load_plugin(build("bigram")).id, "org.slipway.examples.bigram");
}

TEST_F(OutOfTree, ReadmeShowsTheExampleThatIsBuilt) {
  const auto text_of = [](const fs::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string example = text_of(source_ / "tests" / "plugin" / "readme_example.cpp");
  ASSERT_FALSE(example.empty());
  EXPECT_NE(text_of(source_ / "plugin_api" / "README.md").find("```cpp\n" + example + "```"), std::string::npos);
  const std::string built = (build_ / "tests" / "plugins" / "libslipway_readme_example.so").string();
  DatasetInstance dataset(find_component(load_plugin(built), SLW_KIND_DATASET, "ramp"), "{}", 4);
  dataset.build({4});
  EXPECT_EQ(dataset.get_i64("labels", {2}), (std::vector<int64_t>{3, 4, 5, 6}));
}

}  // namespace
