// Flags of a command line. Splitting comes first and knows no option (which options exist is known only when the
// plugins named by some of the flags are loaded); assigning comes second and gives each flag its option and value.
// Values.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/config/option.h"

namespace slipway {

// "--name value", "--name=value" or "--name", together with all that follows up to the next flag.
struct FlagArgument {
  std::string name;     // '_' for '-', without the dashes in front
  std::string spelled;  // as the user wrote it, without value: "--micro-batch-size"
  std::optional<std::string> inline_value;
  std::vector<std::string> following;
};

// Throws ConfigError when something stands before the first flag or a flag has no name.
std::vector<FlagArgument> split_flags(const std::vector<std::string>& arguments);

// The one value of a flag that must have one. Throws ConfigError otherwise.
std::string single_value(const FlagArgument& flag);

struct Assignment {
  std::string section;
  std::string option;
  nlohmann::json value;
  std::string spelled;
};

// All flags that exist in a run. A core option is --name and --section.name; a provider's option is --section.name, and
// --name as well when no core option and no other chosen provider has it.
class FlagTable {
 public:
  void add_core(const std::string& section, const std::vector<OptionSpec>& options, bool dotted = true);
  void add_provider(const std::string& section, const std::vector<OptionSpec>& options);
  // Flags that are dealt with elsewhere: only named when a spelling is corrected.
  void add_known(const std::string& name) { known_.push_back(name); }

  // Throws ConfigError for unknown, ambiguous, contradicting flags and wrong values.
  std::vector<Assignment> assign(const std::vector<FlagArgument>& flags) const;

 private:
  struct Target {
    std::string section;
    OptionSpec option;
    std::optional<std::string> fixed_value;
  };
  using Targets = std::vector<Target>;
  using Index = std::map<std::string, Targets>;

  static void add(Index& index, const std::string& prefix, const std::string& section,
                  const std::vector<OptionSpec>& options);
  const Targets* find(const std::string& name) const;
  std::vector<Assignment> assign_one(const FlagArgument& flag) const;
  [[noreturn]] void refuse_unknown(const FlagArgument& flag) const;

  Index core_;
  Index dotted_;
  Index providers_;
  std::vector<std::string> known_;
};

}  // namespace slipway
