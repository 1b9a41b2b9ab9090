#include <filesystem>
#include <iostream>

#include "core/base/strings.h"
#include "core/comm/compute_threads.h"
#include "core/config/help.h"
#include "core/plugin_host/option_specs.h"
#include "core/plugin_host/registry.h"
#include "launcher/worker/commands.h"

namespace slipway {
namespace {

std::string abi_text(const LibraryFile& file) {
  return std::to_string(file.abi_major) + "." + std::to_string(file.abi_minor);
}

// Reads the files only: nothing is loaded.
void list_plugins(Reporter& reporter) {
  const std::vector<std::string> folders = plugin_search_folders({});
  const PluginRegistry registry(folders, libtorch_build(), reporter);
  std::cout << "plugins in " << join(folders, ", ") << "\n";
  for (const std::string& path : registry.available_files()) {
    const std::string name = std::filesystem::path(path).stem().string().substr(std::string("libslipway_").size());
    std::cout << "  " << name << "\t";
    try {
      const LibraryFile file = inspect_library(path, libtorch_build());
      std::cout << "ABI " << abi_text(file) << "  sha256 " << file.sha256.substr(0, 12)
                << (file.requires_json.empty() ? "" : "  requires " + file.requires_json) << "  " << path << "\n";
    } catch (const Error& error) {
      std::cout << "unusable: " << error.what() << "\n";
    }
  }
}

void print_component(const Component& component) {
  const slw_component& c = component.get();
  const std::string kind = kind_word(c.kind);
  std::cout << "\n" << kind << " '" << c.name << "'  (" << c.kind << "): " << (c.summary ? c.summary : "") << "\n";
  static const std::vector<std::pair<std::string, std::string>> kSections{
      {"model", "model"}, {"dataset", "data"}, {"optimizer", "optimizer"}, {"dp", "data_parallel"}};
  std::string section = kind;
  for (const auto& [word, name] : kSections) section = word == kind ? name : section;
  std::cout << help_text({{"options, in section " + section, section, option_specs(component)}});
}

void print_plugin(const std::string& path_or_name, Reporter& reporter) {
  PluginRegistry registry(plugin_search_folders({}), libtorch_build(), reporter);
  const LoadedLibrary& library = registry.load(path_or_name);
  const slw_plugin& plugin = *library.plugin;
  const auto line = [](const char* label, const char* value) {
    if (value != nullptr) std::cout << label << value << "\n";
  };
  line("id       ", plugin.id);
  line("version  ", plugin.version);
  line("vendor   ", plugin.vendor);
  line("url      ", plugin.url);
  line("license  ", plugin.license);
  std::cout << "ABI      " << abi_text(library.file) << "\nfile     " << library.file.path << "\nsha256   "
            << library.file.sha256 << "\n";
  if (!library.file.requires_json.empty()) std::cout << "requires " << library.file.requires_json << "\n";
  for (uint32_t i = 0; i < plugin.num_components; ++i) print_component({&library, plugin.components[i]});
}

}  // namespace

ExitCode plugin_command(const Arguments& arguments, const CommandContext& context) {
  const std::string verb = arguments.empty() ? "" : arguments[0];
  if (verb == "list" && arguments.size() == 1) {
    list_plugins(context.reporter);
  } else if (verb == "info" && arguments.size() == 2) {
    print_plugin(arguments[1], context.reporter);
  } else {
    throw ConfigError("usage: slipway plugin list | slipway plugin info PATH-OR-NAME");
  }
  return ExitCode::kDone;
}

}  // namespace slipway
