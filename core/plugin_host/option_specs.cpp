#include "core/plugin_host/option_specs.h"

#include "core/params/read_struct.h"

namespace slipway {
namespace {

std::vector<std::string> texts(const char* const* list) {
  std::vector<std::string> out;
  for (; list != nullptr && *list != nullptr; ++list) out.emplace_back(*list);
  return out;
}

std::string text(const char* text_or_null) { return text_or_null == nullptr ? "" : text_or_null; }

}  // namespace

std::vector<OptionSpec> option_specs(const Component& component) {
  const slw_component& described = component.get();
  const std::string owner = component.site().component;
  std::vector<OptionSpec> specs;
  for (uint32_t i = 0; i < described.num_options; ++i) {
    const slw_option option = read_struct(described.options[i], "slw_option");
    check_flags(option.flags, 0, (owner + ": option " + std::to_string(i)).c_str());
    if (option.name == nullptr || option.type < SLW_OPT_BOOL || option.type > SLW_OPT_JSON) {
      throw PluginError(owner + ": option " + std::to_string(i) + " has no name or an unknown type");
    }
    OptionSpec& spec = specs.emplace_back();
    spec.name = option.name;
    spec.type = static_cast<OptionType>(option.type);
    spec.default_json = text(option.default_json);
    spec.min_json = text(option.min_json);
    spec.max_json = text(option.max_json);
    spec.choices = texts(option.choices);
    spec.aliases = texts(option.aliases);
    spec.help = text(option.help);
    spec.is_path = (option.flags & SLW_OPTION_PATH) != 0;
  }
  check_option_table(specs, owner);
  return specs;
}

}  // namespace slipway
