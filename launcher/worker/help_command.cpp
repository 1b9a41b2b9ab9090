#include <algorithm>
#include <iostream>

#include "core/base/strings.h"
#include "core/comm/compute_threads.h"
#include "core/config/help.h"
#include "core/pretrain/plan_run.h"
#include "launcher/worker/commands.h"
#include "launcher/worker/generate_command.h"

namespace slipway {
namespace {

std::vector<HelpSection> core_sections() {
  std::vector<HelpSection> sections;
  for (const SectionSpec& spec : manifest_sections()) {
    if (spec.options.empty()) continue;
    const std::string title = spec.command_line_only ? "command line only" : "section " + spec.name;
    sections.push_back({title, spec.name, spec.options});
  }
  return sections;
}

// Options of the providers that a manifest or flags choose; none when nothing is chosen.
std::vector<HelpSection> provider_sections(const Arguments& arguments, Reporter& reporter) {
  std::vector<HelpSection> sections;
  if (arguments.empty()) return sections;
  PluginRegistry registry(plugin_folders(arguments), libtorch_build(), reporter);
  const LoadedManifest loaded = load_manifest(arguments, registry);
  for (const ProviderChoice& choice : loaded.manifest.choices()) {
    const Component& component = loaded.components.at(choice.section);
    sections.push_back({kind_word(component.get().kind) + " '" + choice.use + "', in section " + choice.section,
                        choice.section, loaded.tables.at(choice.section)});
  }
  return sections;
}

}  // namespace

ExitCode help_command(const Arguments& arguments, const CommandContext& context) {
  const bool has_topic = !arguments.empty() && !arguments[0].starts_with('-');
  std::vector<HelpSection> sections = core_sections();
  const Arguments flags(arguments.begin() + (has_topic ? 1 : 0), arguments.end());
  for (HelpSection& section : provider_sections(flags, context.reporter)) sections.push_back(std::move(section));
  if (has_topic) {
    const SectionSpec generate = generate_section();
    sections.push_back({"slipway generate", generate.name, generate.options});
    std::vector<std::string> names;
    for (const HelpSection& section : sections) names.push_back(section.section);
    std::erase_if(sections, [&](const HelpSection& section) { return section.section != arguments[0]; });
    if (sections.empty()) {
      throw ConfigError("there is no help on " + in_quotes(arguments[0]) + suggestion(arguments[0], names));
    }
  }
  std::cout << help_text(sections);
  if (flags.empty()) {
    std::cout << "\nOptions of plugins: slipway help --manifest FILE, or slipway plugin info NAME.\n";
  }
  return ExitCode::kDone;
}

ExitCode flags_command() {
  std::cout << flags_markdown(core_sections());
  return ExitCode::kDone;
}

}  // namespace slipway
