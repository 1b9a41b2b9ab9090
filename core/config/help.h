// What is shown of options: help on the terminal and the reference in Markdown. Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "core/config/option.h"

namespace slipway {

// A group of options under a title. Flags are --name (`flat`) or --section.name.
struct HelpSection {
  std::string title;
  std::string section;
  std::vector<OptionSpec> options;
  bool flat = true;
};

struct HelpRow {
  std::string flag;           // "--micro-batch-size"
  std::string other_flags;    // "--swiglu (sets "silu")", comma separated
  std::string type;           // "an integer, 1 or more"
  std::string default_value;  // JSON; "none" when a value must be given
  std::string help;
};

std::vector<HelpRow> help_rows(const HelpSection& section);

// For a terminal of 100 columns.
std::string help_text(const std::vector<HelpSection>& sections);

// The text of FLAGS.md.
std::string flags_markdown(const std::vector<HelpSection>& sections);

}  // namespace slipway
