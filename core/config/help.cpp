#include "core/config/help.h"

#include "core/base/strings.h"

namespace slipway {
namespace {

constexpr std::size_t kColumns = 100;
constexpr std::size_t kIndent = 6;

std::string kebab(const std::string& name) { return "--" + replace_char(name, '_', '-'); }

std::string other_flags(const OptionSpec& option) {
  std::vector<std::string> flags;
  for (const std::string& text : option.aliases) {
    const OptionAlias alias = parse_alias(text);
    flags.push_back(kebab(alias.name) + (alias.sets_value ? " (sets " + alias.value + ")" : ""));
  }
  if (option.type == OptionType::kBool) flags.push_back("--no-" + replace_char(option.name, '_', '-'));
  return join(flags, ", ");
}

// Words of `text` in lines that begin with kIndent blanks.
std::string wrapped(const std::string& text) {
  std::string result;
  std::size_t column = kColumns;
  for (const std::string& word : split(text, ' ')) {
    if (column + 1 + word.size() > kColumns) {
      result += (result.empty() ? "" : "\n") + std::string(kIndent, ' ') + word;
      column = kIndent + word.size();
    } else {
      result += " " + word;
      column += 1 + word.size();
    }
  }
  return result + "\n";
}

std::string cell(const std::string& text) {
  std::string result;
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

std::string code(const std::string& text) { return "`" + cell(text) + "`"; }

}  // namespace

std::vector<HelpRow> help_rows(const HelpSection& section) {
  std::vector<HelpRow> rows;
  for (const OptionSpec& option : section.options) {
    HelpRow row;
    row.flag = kebab(section.flat ? option.name : section.section + "." + option.name);
    row.other_flags = other_flags(option);
    row.type = type_text(option);
    row.default_value = option.default_json.empty() ? "none" : option.default_json;
    row.help = option.help;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string help_text(const std::vector<HelpSection>& sections) {
  std::string text;
  for (const HelpSection& section : sections) {
    if (section.options.empty()) continue;
    text += (text.empty() ? "" : "\n") + section.title + "\n";
    for (const HelpRow& row : help_rows(section)) {
      text += "  " + row.flag + "  (" + row.type + "; default " + row.default_value + ")\n" + wrapped(row.help);
      if (!row.other_flags.empty()) text += wrapped("Also: " + row.other_flags);
    }
  }
  return text;
}

std::string flags_markdown(const std::vector<HelpSection>& sections) {
  std::string text =
      "# Options of the core\n\nMade from the `fields` declarations; do not edit. Each is a flag and, in the manifest, "
      "the key of the same name\n(with `_` for `-`) in the section of the heading. `--section.name` works as well.\n";
  for (const HelpSection& section : sections) {
    if (section.options.empty()) continue;
    text += "\n## " + section.title + "\n\n| flag | value | default | meaning |\n|---|---|---|---|\n";
    for (const HelpRow& row : help_rows(section)) {
      const std::string also = row.other_flags.empty() ? "" : " Also: " + cell(row.other_flags) + ".";
      text += "| " + code(row.flag) + " | " + cell(row.type) + " | " + code(row.default_value) + " | " +
              cell(row.help) + also + " |\n";
    }
  }
  return text;
}

}  // namespace slipway
