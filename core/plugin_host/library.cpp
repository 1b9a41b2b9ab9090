#include "core/plugin_host/library.h"

#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/plugin_host/call.h"
#include "core/plugin_host/elf_file.h"
#include "core/plugin_host/host.h"

namespace slipway {
namespace {

constexpr const char* kEntry = "slw_plugin_v0";
constexpr const char* kRequires = "slw_plugin_requires_v0";

std::string version_text(int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); }

void check_entry(const ElfFile& elf, LibraryFile& file) {
  const std::optional<std::string> entry = elf.data_of(kEntry);
  if (!entry) {
    std::string others;
    for (const std::string& name : elf.exports()) {
      if (name.starts_with("slw_plugin_v")) others += " " + name;
    }
    if (!others.empty()) {
      throw PluginError(file.path + ": this slipway needs the entry " + kEntry + ", the file exports" + others +
                        "; build the plugin against plugin ABI " + version_text(SLW_ABI_MAJOR, SLW_ABI_MINOR));
    }
    throw PluginError(file.path + " is not a plugin: it does not export " + kEntry +
                      "; write SLW_PLUGIN(...) in one of its sources (plugin_api/README.md)");
  }
  uint32_t size = 0;
  if (entry->size() < SLW_SIZE_TO(slw_plugin, min_host_minor)) {
    throw PluginError(file.path + ": its entry " + kEntry + " is too small to be a slw_plugin");
  }
  std::memcpy(&size, entry->data(), sizeof(size));
  std::memcpy(&file.abi_major, entry->data() + offsetof(slw_plugin, abi_major), sizeof(uint16_t));
  std::memcpy(&file.abi_minor, entry->data() + offsetof(slw_plugin, abi_minor), sizeof(uint16_t));
  if (file.abi_major != SLW_ABI_MAJOR || file.abi_minor != SLW_ABI_MINOR) {
    throw PluginError(
        file.path + " was built with plugin ABI " + version_text(file.abi_major, file.abi_minor) +
        "; this slipway provides " + version_text(SLW_ABI_MAJOR, SLW_ABI_MINOR) +
        " and while the ABI is 0.x both have to be equal: rebuild the plugin with this slipway's headers");
  }
  if (size < SLW_SIZE_TO(slw_plugin, components)) {
    throw PluginError(file.path + ": slw_plugin.struct_size is " + std::to_string(size) + ", which is too small");
  }
}

void check_requirements(const LibraryFile& file, const std::string& libtorch_build) {
  if (file.requires_json.empty()) return;
  const auto wanted = nlohmann::json::parse(file.requires_json, nullptr, false);
  if (!wanted.is_object()) throw PluginError(file.path + ": " + kRequires + " is not a JSON object");
  for (const auto& [what, version] : wanted.items()) {
    if (what != "libtorch" || !version.is_string()) {
      throw PluginError(file.path + " requires '" + what + "', which this slipway does not know");
    }
    if (version.get<std::string>() != libtorch_build) {
      throw PluginError(file.path + " was built with LibTorch " + version.get<std::string>() + "; this slipway runs " +
                        libtorch_build + ": rebuild the plugin with the same LibTorch");
    }
  }
}

}  // namespace

LibraryFile inspect_library(const std::string& path, const std::string& libtorch_build) {
  LibraryFile file;
  std::error_code ignored;
  const auto absolute = std::filesystem::canonical(path, ignored);
  if (ignored) throw PluginError("plugin file " + path + " does not exist; give the path of a .so file");
  file.path = absolute.string();
  const ElfFile elf(file.path);
  file.sha256 = sha256_hex(elf.bytes());
  check_entry(elf, file);
  if (const auto text = elf.data_of(kRequires)) file.requires_json = text->substr(0, text->find('\0'));
  check_requirements(file, libtorch_build);
  return file;
}

namespace {

// Process-wide on purpose: the dynamic loader's table is, too. Leaked so that no library is ever unloaded.
struct LoadedLibraries {
  std::mutex mutex;
  std::vector<std::unique_ptr<LoadedLibrary>> libraries;
  std::vector<boost::dll::shared_library> handles;

  static LoadedLibraries& instance() {
    static LoadedLibraries& leaked = *new LoadedLibraries;
    return leaked;
  }
};

// A static constructor of the file may crash here.
boost::dll::shared_library open(const std::string& path, Reporter& reporter) {
  const Crumb crumb(reporter, "loading plugin " + path);
  try {
    return boost::dll::shared_library(path, boost::dll::load_mode::rtld_now);
  } catch (const boost::system::system_error& error) {
    throw PluginError(path + " does not load: " + error.what());
  }
}

void initialize_plugin(const slw_plugin* plugin, const std::string& path, Reporter& reporter) {
  if (!SLW_HAS_FN(plugin, slw_plugin, init)) return;
  const CallSite site{"plugin " + std::string(plugin->id) + " (" + path + ")"};
  const Crumb crumb(reporter, "init of " + site.component);
  const BareHost host;
  call(site, "init", [&](slw_error* error) { return plugin->init(host.get(), error); });
}

}  // namespace

const LoadedLibrary& load_library(const LibraryFile& file, Reporter& reporter) {
  LoadedLibraries& all = LoadedLibraries::instance();
  const std::lock_guard lock(all.mutex);
  for (const auto& known : all.libraries) {
    if (known->file.path == file.path) return *known;
  }
  boost::dll::shared_library handle = open(file.path, reporter);
  const slw_plugin& plugin = handle.get<const slw_plugin>(kEntry);
  all.handles.push_back(std::move(handle));
  check_descriptor(file.path, plugin);
  initialize_plugin(&plugin, file.path, reporter);
  all.libraries.push_back(std::make_unique<LoadedLibrary>(LoadedLibrary{file, &plugin}));
  return *all.libraries.back();
}

}  // namespace slipway
